/*
 * steer: sends a new connection to the seat whose CPU received it. No httpd
 * header is needed. steer_map and the program are pure; the rest makes
 * system calls on the descriptors it is given and keeps no state.
 */
#ifndef CPUAFFINITY_STEER_H
#define CPUAFFINITY_STEER_H

#include <linux/filter.h>

#include <apr_pools.h>

#include "affinity/cpuset.h"

typedef enum steer_method {
    STEER_NONE,         /* the kernel's hash */
    STEER_INCOMING_CPU, /* SO_INCOMING_CPU on each socket */
    STEER_CBPF          /* a classic BPF program on the group */
} steer_method;

/* "off", "incoming-cpu", "cbpf" */
const char *steer_name(steer_method method);

/* CPUs first..last: each belongs to `count` seats, seat k of them being
 * base + (cpu - first) * slope + k * stride. */
typedef struct steer_run {
    int first, last;
    int base;
    int slope; /* 0: all to the same seats; 1: the next CPU, the next seat */
    int count; /* >= 1 */
    int stride;
} steer_run;

/* Which seat each CPU belongs to; CPUs of no run belong to nobody and their
 * connections are dealt at random over all seats. */
typedef struct steer_map {
    int seats;
    int single; /* every seat's set is one CPU, and no two seats share one */
    int nruns;  /* ascending, not overlapping */
    steer_run *runs;
    int *cpu; /* per seat its first CPU, -1 if its set is empty */
} steer_map;

/*
 * Makes the map.
 * @param sets the seats' sets, in seat order; a CPU in several sets is shared
 *        (evenly when they are a whole number of seats apart, else it goes to
 *        the lowest)
 * @return the map, from @a p; never NULL
 */
steer_map *steer_map_make(apr_pool_t *p, const cpuset *const *sets, int seats);

/*
 * The classic BPF program of a map: CPU in, socket index out, always below
 * @a map->seats.
 * @param code room for the program, at most BPF_MAXINSNS long
 * @return its length, or -1 if it would be longer than @a room
 */
int steer_program(const steer_map *map, struct sock_filter *code, int room);

/* The same without affinity: a random index below @a seats. Its length: 3. */
int steer_program_random(int seats, struct sock_filter *code);

/*
 * Applies a method to one group of listening sockets.
 * @param fds the sockets in group order; the first map->seats take new
 *        connections, the others (surplus) none any more
 * @param map NULL or the map; needed for the methods but STEER_NONE, which
 *        takes the number of seats from @a seats alone
 * @return 0, or -1 with errno; *failed tells the system call
 */
int steer_apply(const int *fds, int nfds, int seats, steer_method method,
                const steer_map *map, const char **failed);

/*
 * Tries the methods with real connections over loopback on an ephemeral
 * port, from up to four of the CPUs in @a allowed; takes a few milliseconds.
 * The calling thread's CPU mask is changed and put back.
 * @param single whether STEER_INCOMING_CPU is wanted (map->single); it is
 *        preferred when it works, else STEER_CBPF
 * @param reason on STEER_NONE why, from @a p; else untouched
 * @return the method that was seen to work
 */
steer_method steer_probe(apr_pool_t *p, const cpuset *allowed, int single,
                         const char **reason);

#endif
