/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/counters.h"

#include "http/request_why.h"

#include "base/shared_mem.h"

typedef struct shared {
    uint64_t refused[REASON_COUNT];
    uint64_t not_mine[REQUEST_WHYS];
    uint32_t offs;     /* vhosts that were turned off */
    uint32_t server[]; /* bits: reasons that were logged; OFF_BIT */
} shared;

#define OFF_BIT (1u << 31)

static struct {
    shared_mem memory;
    shared *mem; /* in it; NULL: there is none */
    unsigned servers;
} counts;

static apr_status_t forget(void *unused)
{
    if (counts.mem) {
        shared_mem_free(&counts.memory);
        counts.mem = NULL;
    }
    counts.servers = 0;
    return APR_SUCCESS;
}

int counters_make(apr_pool_t *p, unsigned servers)
{
    if (shared_mem_make(&counts.memory, "cpuaffinity-counts",
                        sizeof(shared) + servers * sizeof(uint32_t))) {
        return -1;
    }
    counts.mem = counts.memory.at;
    counts.servers = servers;
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
    return !(
        __atomic_fetch_or(&counts.mem->server[server], bit, __ATOMIC_RELAXED)
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

void counters_off(unsigned server)
{
    if (counts.mem && server < counts.servers
        && !(__atomic_fetch_or(&counts.mem->server[server], OFF_BIT,
                               __ATOMIC_RELAXED)
             & OFF_BIT)) {
        __atomic_fetch_add(&counts.mem->offs, 1, __ATOMIC_RELEASE);
    }
}

unsigned counters_offs(void)
{
    return counts.mem ? __atomic_load_n(&counts.mem->offs, __ATOMIC_ACQUIRE)
                      : 0;
}

int counters_is_off(unsigned server)
{
    return !counts.mem || server >= counts.servers
           || (__atomic_load_n(&counts.mem->server[server], __ATOMIC_RELAXED)
               & OFF_BIT);
}
