/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seat: the index 0…N-1 that a child process holds within its generation,
 * and the counters of each seat. One table per generation, in shared memory
 * that children write: the parent trusts nothing in it and only clears rows
 * (CVE-2019-0211). The memory is a memfd named "cpuaffinity-seats", so that
 * "cpuaffinity ps" can read it through /proc/PID/fd.
 */
#ifndef CPUAFFINITY_SEAT_H
#define CPUAFFINITY_SEAT_H

#include <stdint.h>
#include <sys/types.h>

#include <apr_pools.h>

#define SEAT_MAGIC 0x73656174u /* "seat" */
#define SEAT_MEMFD "cpuaffinity-seats"

/* Counters are written by the seat's own process only (relaxed atomics) and
 * read by anyone; they start at 0 with each generation. Times are
 * CLOCK_MONOTONIC milliseconds. */
typedef struct seat_row {
    _Alignas(64) int32_t pid; /* 0: free */
    int32_t previous;         /* the pid before this one; 0: none */
    uint32_t state;           /* seat_state */
    uint32_t idle_workers;    /* as the loop last saw it */
    uint64_t beat;            /* when the loop last turned, 0: no loop */
    uint64_t accepts;         /* connections accepted from the sockets */
    uint64_t connections;     /* open in the loop now */
    uint64_t requests;        /* answered by the loop */
    uint64_t loop_hits;       /* answered from the cache */
    uint64_t handoffs;        /* connections given to httpd's threads */
    uint64_t adoptions;       /* connections taken back from them */
    uint64_t given;           /* connections given to other seats */
    uint64_t taken;           /* connections taken from other seats */
    uint64_t busy_us;       /* the loop's thread ran or waited for a CPU, µs */
    uint64_t bytes;         /* body and header bytes sent by the loop */
    uint64_t waiting_bytes; /* held for clients that are slow to read, now */
    uint64_t learned;       /* answers learned */
    uint64_t refused;       /* answers that may not be learned */
    uint64_t audited;       /* hits compared with httpd's answer */
    uint64_t differed;      /* of these, the ones that differed */
    uint64_t cache_entries; /* answers in the loop's cache, now */
    uint64_t cache_bytes;   /* of files in its memory, now */
    uint64_t cache_fds;     /* of files that are open, now */
    uint64_t evicted;       /* answers pushed out for want of room */
    uint64_t stale;         /* answers whose file had changed */
    uint64_t expired;       /* answers that httpd had to give again */
    uint64_t tls_open;      /* connections with TLS in the loop now */
    uint64_t tls_taken;     /* times that one came from httpd's threads */
    uint64_t tls_returned;  /* times that one went back to them */
    uint32_t saturated;     /* 1: gives new connections away */
    uint32_t pad;
} seat_row;

typedef enum seat_state {
    SEAT_STARTING,
    SEAT_RUNNING,
    SEAT_STOPPING
} seat_state;

/* What the memory starts with; children can write all of it. */
typedef struct seat_shared {
    uint32_t magic;    /* SEAT_MAGIC */
    uint32_t row_size; /* sizeof(seat_row) of the writer */
    int32_t seats;     /* rows; for readers that did not make the table */
    int32_t steering;  /* as last decided, see listen/steer_apply.h */
    char steering_why[176];
    seat_row rows[];
} seat_shared;

/* A process's own view: the number of rows is not read from shared memory, so
 * that no child can lead the parent past the end. */
typedef struct seat_table {
    int seats;
    seat_row *rows;
    seat_shared *shared;
} seat_table;

/*
 * Makes a table of @a seats (>= 1) free seats; unmapped and closed with
 * @a p. In the parent, while root or not.
 * @return the table, or NULL with errno
 */
seat_table *seat_table_make(apr_pool_t *p, int seats);

/*
 * Claims the lowest free seat for this process; a seat whose process is dead
 * is free. Any process that has the table. Idempotent per process: a process
 * that holds a seat gets the same one.
 * @return the seat, or -1 when all are taken
 */
int seat_claim(seat_table *t);

/* Gives up the seat that process @a pid holds, if it holds one; safe in a
 * signal handler, in the parent and in any thread. @return the seat or -1 */
int seat_release(seat_table *t, pid_t pid);

/* The live process of a seat, 0 when there is none. */
pid_t seat_holder(const seat_table *t, int seat);

/* For how long its loop has not turned, in milliseconds: @a now when it has
 * no loop, 0 when its last turn is later than @a now. */
int64_t seat_silent(const seat_row *row, int64_t now);

/* Milliseconds without a turn of its loop after which a process is stuck. */
#define SEAT_STUCK 2000

/* Whether the seat has a living process whose loop turns, at @a now
 * (CLOCK_MONOTONIC ms). */
int seat_turns(const seat_table *t, int seat, int64_t now);

/* A row's values at some moment, to compare with. */
typedef struct seat_moment {
    uint64_t busy_us;
    uint64_t beat; /* 0: nothing yet */
} seat_moment;

/* Stores the row's values of now. Any process. */
void seat_look(const seat_row *row, seat_moment *now);

/*
 * How busy a seat was since @a was: the share of the time between its own
 * beats in which its loop's thread ran or waited for a CPU; 1 for a seat that
 * is saturated. Seats are compared by nothing else.
 * @param least milliseconds between the beats; with less there is no answer
 * @return 0 to 1, or -1: no answer (no beat, another process)
 */
double seat_load(const seat_row *row, const seat_moment *was, uint64_t least);

/* Adds to a counter of a row that this process owns. */
#define SEAT_ADD(row, member, n)                                               \
    __atomic_fetch_add(&(row)->member, (n), __ATOMIC_RELAXED)
#define SEAT_SET(row, member, n)                                               \
    __atomic_store_n(&(row)->member, (n), __ATOMIC_RELAXED)
#define SEAT_GET(row, member) __atomic_load_n(&(row)->member, __ATOMIC_RELAXED)

#endif
