/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steer_map: which seats a CPU's connections go to, and the classic BPF
 * program that tells the kernel so. Pure.
 */
#ifndef CPUAFFINITY_STEER_MAP_H
#define CPUAFFINITY_STEER_MAP_H

#include <linux/filter.h>

#include <apr_pools.h>

#include "affinity/cpuset.h"

/* CPUs first..last: each belongs to `count` seats; seat k of them is
 * base + (cpu - first) * slope + k * stride. */
typedef struct steer_map_run {
    int first, last;
    int base;
    int slope; /* 0: all to the same seats; 1: the next CPU, the next seat */
    int count; /* >= 1 */
    int stride;
} steer_map_run;

/* CPUs of no run belong to no seat: their connections are spread at random
 * over all seats. */
typedef struct steermap {
    int seats;
    int single; /* every seat's set is one CPU, and no two seats share one */
    int nruns;  /* runs: ascending, not overlapping */
    steer_map_run *runs;
    int *cpu; /* per seat the first CPU of its set; -1 if that is empty */
} steermap;

/*
 * Makes the map.
 * @param sets the seats' sets, in seat order; a CPU in several sets is shared
 *        evenly when those seats are a constant number apart, else it belongs
 *        to the lowest
 * @return the map, from @a p; never NULL
 */
steermap *steer_map_make(apr_pool_t *p, const cpuset *const *sets, int seats);

/*
 * The classic BPF program of a map: CPU in, socket index out, always below
 * map->seats.
 * @param code room for @a room instructions (the kernel takes BPF_MAXINSNS)
 * @return the program's length, or -1 if there is not enough room
 */
int steer_map_program(const steermap *map, struct sock_filter *code, int room);

/* The same without affinity: a random index below @a seats. @a code has room
 * for three instructions. @return 3 */
int steer_map_random(int seats, struct sock_filter *code);

#endif
