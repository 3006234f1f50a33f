/* SPDX-License-Identifier: Apache-2.0 */
/*
 * send: answers on their way out: a batch of small ones in one system call,
 * large ones by sendfile in slices, and what the socket does not take yet.
 * Loop thread only; no httpd header is needed.
 */
#ifndef CPUAFFINITY_SEND_H
#define CPUAFFINITY_SEND_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "http/response.h"
#include "cache/cache.h"
#include "loop/conn.h"

#define SEND_PARTS 64                /* of a batch: heads and bodies */
#define SEND_BATCH (256 * 1024)      /* bytes of a batch, about */
#define SEND_SLICE (2 * 1024 * 1024) /* of a file, then it is others' turn */
#define SEND_COPY 4096               /* a body up to this follows its head */
#define SEND_HEADS (64 * 1024)

/* What is gathered for one sendmsg(), and scratch. One per loop. */
typedef struct send_buffers {
    struct iovec part[SEND_PARTS];
    int parts;
    size_t bytes;
    cache_entry *held[SEND_PARTS]; /* keep the bodies' memory */
    int holds;
    int tail; /* the last part is the body of the last one held */
    size_t head_used;
    char head[SEND_HEADS]; /* heads, small bodies between them */
    char file[64 * 1024];  /* read + send where sendfile may not be used */
} send_buffers;

/* What the caller counts of answers. */
typedef struct send_tally {
    unsigned answers;
    int64_t in; /* bytes of their requests */
    int64_t out;
} send_tally;

/* What one connection still has to send; from malloc, kept for reuse. */
typedef struct sending {
    struct sending *next;
    char *memory; /* the rest of a batch, or NULL */
    size_t memory_off;
    size_t memory_len;
    size_t kept;        /* bytes of it that count as kept */
    cache_entry *entry; /* held; (a part of) its file follows, or NULL */
    int64_t file_off;
    int64_t file_left;
    struct line *lines; /* of the access log; the caller's, see pending_log.h */
    send_tally tally;   /* of its answers; the caller's, see score.h */
    int64_t timeout;    /* ms that the client may take nothing */
    int64_t idle;       /* ms that it may idle afterwards */
    uint8_t waits;      /* the caller's: for its client */
    uint8_t by_read;    /* no sendfile for this one */
    uint8_t looks;      /* in vain, for the file's next bytes: page_cache.h */
    uint8_t close;      /* afterwards the connection ends */
} sending;

typedef enum send_result {
    SEND_DONE,
    SEND_BLOCKED, /* the socket is full: wait for EPOLLOUT */
    SEND_SLICED,  /* enough for one turn: wait for EPOLLOUT too */
    SEND_COLD,    /* the file is not in memory: again after PAGE_CACHE_WAIT */
    SEND_FAILED   /* the client is gone or the file was cut: abort */
} send_result;

/*
 * What is kept for slow clients, copies of answers and requests that wait
 * behind them, is at most @a most bytes in this process, about: from there on
 * a batch is one answer, of which a client that does not read costs the head.
 */
void send_bound(uint64_t most);

/* Bytes kept now. */
uint64_t send_kept(void);

/* Is the bound reached? Then little is to be read at once, too. */
int send_tight(void);

/* Counts @a n bytes more as kept until the record is freed. */
void send_keep(sending *s, size_t n);

/* Room for a head of @a size bytes; NULL: flush first. */
char *send_head_room(send_buffers *b, size_t size);

/* Adds a head written to send_head_room() and a body in memory (may be of
 * length 0); the entry is held until the batch is gone if it has to be. */
void send_add(send_buffers *b, size_t head_len, const char *body,
              size_t body_len, cache_entry *entry);

/*
 * Sends the batch; it is empty afterwards.
 * @param more a file follows: the kernel need not send the last segment yet
 * @param rest when the socket takes only a part, gets a copy of what is left
 *        (allocated if NULL); untouched otherwise. A body in memory that
 *        comes last is not copied but held
 * @return SEND_DONE, SEND_BLOCKED or SEND_FAILED
 */
send_result send_flush(send_buffers *b, cache *c, conn *to, int more,
                       sending **rest);

/* Empties the batch without sending: its connection is over. */
void send_drop(send_buffers *b, cache *c);

/* Goes on with what is left; at most a slice of a file. @a now in ms. */
send_result send_go_on(send_buffers *b, conn *to, sending *s, int64_t now);

/* Bytes that have not left. */
int64_t send_left(const sending *s);

/* A record for a file that follows a batch; NULL without memory. */
sending *send_make(void);

/* Frees the record and what it holds; NULL is harmless. */
void send_free(cache *c, sending *s);

#endif
