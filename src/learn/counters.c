/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/counters.h"

#include "learn/cost.h"

#include "base/shared_mem.h"

typedef struct shared {
    uint64_t refused[REASON_COUNT];
    uint64_t not_mine[REQUEST_WHYS];
    uint32_t offs;    /* vhosts that were turned off */
    uint64_t costs[]; /* COSTS of each server, then one for each obstacle,
                        * then, of 32 bits, server: reasons logged, OFF_BIT,
                        * QUERY_BIT */
} shared;

#define OFF_BIT (1u << 31)
#define QUERY_BIT (1u << 30)
_Static_assert(REASON_COUNT <= 30, "reasons have no bits of their own");

static struct {
    shared_mem memory;
    shared *mem;      /* in it; NULL: there is none */
    uint32_t *server; /* in it: bits: reasons that were logged, and those two */
    uint64_t *met;    /* in it */
    unsigned servers;
    unsigned obstacles;
    int64_t since;
} counts;

static apr_status_t forget(void *unused)
{
    if (counts.mem) {
        shared_mem_free(&counts.memory);
        counts.mem = NULL;
    }
    counts.servers = counts.obstacles = 0;
    counts.since = 0;
    return APR_SUCCESS;
}

int counters_make(apr_pool_t *p, unsigned servers, unsigned obstacles)
{
    size_t cells = (size_t)servers * COSTS + obstacles;

    if (shared_mem_make(&counts.memory, "cpuaffinity-counts",
                        sizeof(shared) + cells * sizeof(uint64_t)
                            + servers * sizeof(uint32_t))) {
        return -1;
    }
    counts.mem = counts.memory.at;
    counts.met = counts.mem->costs + (size_t)servers * COSTS;
    counts.server = (uint32_t *)(counts.met + obstacles);
    counts.servers = servers;
    counts.obstacles = obstacles;
    counts.since = apr_time_sec(apr_time_now());
    apr_pool_cleanup_register(p, NULL, forget, apr_pool_cleanup_null);
    return 0;
}

int counters_refused(reason_id reason, unsigned server)
{
    uint32_t bit = 1u << reason;

    if (!counts.mem || server >= counts.servers) {
        return 0;
    }
    __atomic_fetch_add(&counts.mem->refused[reason], 1, __ATOMIC_RELAXED);
    return !(__atomic_fetch_or(&counts.server[server], bit, __ATOMIC_RELAXED)
             & bit);
}

uint64_t counters_get(reason_id reason)
{
    return counts.mem
               ? __atomic_load_n(&counts.mem->refused[reason], __ATOMIC_RELAXED)
               : 0;
}

void counters_not_mine(unsigned why)
{
    if (counts.mem && why < REQUEST_WHYS) {
        __atomic_fetch_add(&counts.mem->not_mine[why], 1, __ATOMIC_RELAXED);
    }
}

uint64_t counters_get_not_mine(unsigned why)
{
    return counts.mem && why < REQUEST_WHYS
               ? __atomic_load_n(&counts.mem->not_mine[why], __ATOMIC_RELAXED)
               : 0;
}

void counters_cost(unsigned server, unsigned cause)
{
    if (counts.mem && server < counts.servers && cause < COSTS) {
        __atomic_fetch_add(&counts.mem->costs[(size_t)server * COSTS + cause],
                           1, __ATOMIC_RELAXED);
    }
}

uint64_t counters_get_cost(unsigned server, unsigned cause)
{
    return counts.mem && server < counts.servers && cause < COSTS
               ? __atomic_load_n(
                   &counts.mem->costs[(size_t)server * COSTS + cause],
                   __ATOMIC_RELAXED)
               : 0;
}

int counters_met(unsigned obstacle)
{
    if (!counts.mem || obstacle >= counts.obstacles) {
        return -1;
    }
    __atomic_fetch_add(&counts.met[obstacle], 1, __ATOMIC_RELAXED);
    return 0;
}

uint64_t counters_get_met(unsigned obstacle)
{
    return counts.mem && obstacle < counts.obstacles
               ? __atomic_load_n(&counts.met[obstacle], __ATOMIC_RELAXED)
               : 0;
}

int64_t counters_since(void)
{
    return counts.since;
}

/* @return 1 the first time */
static int set_bit(unsigned server, uint32_t bit)
{
    int is_new =
        counts.mem && server < counts.servers
        && !(__atomic_fetch_or(&counts.server[server], bit, __ATOMIC_RELAXED)
             & bit);

    if (is_new) {
        __atomic_fetch_add(&counts.mem->offs, 1, __ATOMIC_RELEASE);
    }
    return is_new;
}

static int has_bit(unsigned server, uint32_t bit)
{
    return !counts.mem || server >= counts.servers
           || (__atomic_load_n(&counts.server[server], __ATOMIC_RELAXED) & bit);
}

void counters_off(unsigned server)
{
    set_bit(server, OFF_BIT);
}

unsigned counters_offs(void)
{
    return counts.mem ? __atomic_load_n(&counts.mem->offs, __ATOMIC_ACQUIRE)
                      : 0;
}

int counters_is_off(unsigned server)
{
    return has_bit(server, OFF_BIT);
}

int counters_by_query(unsigned server)
{
    return set_bit(server, QUERY_BIT);
}

int counters_is_by_query(unsigned server)
{
    return has_bit(server, QUERY_BIT);
}
