/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text as a CPUSET: syntax alone and on a machine. What is accepted must
 * be a set of the machine's CPUs that is not empty, must have been accepted
 * as syntax, and must come back the same from its own list.
 */
#include <stdlib.h>
#include <string.h>

#include <apr_general.h>
#include <apr_strings.h>
#include <hwloc/bitmap.h>

#include "affinity/cpuset.h"
#include "t/fuzz/replay.h"

/* 40 CPUs with a hole, two objects of each kind, one network device. */
#define CPUS 40

static int object(void *ctx, const char *kind, unsigned index, cpuset *set,
                  const char **error)
{
    if (index > 1) {
        *error = "there are only 2";
        return -1;
    }
    hwloc_bitmap_set_range(set, index * 20, (int)index * 20 + 19);
    return 0;
}

static int netdev(void *ctx, const char *name, cpuset *set, const char **error)
{
    if (strcmp(name, "eth0")) {
        *error = "there is no such device";
        return -1;
    }
    hwloc_bitmap_set_range(set, 4, 7);
    return 0;
}

static void check(apr_pool_t *p, const char *text, const cpuset_scope *scope)
{
    const char *error = NULL, *list;
    cpuset *set = NULL, *again = NULL;
    int syntax = cpuset_parse(p, text, NULL, NULL, &error);

    if (syntax && (!error || !*error)) {
        abort();
    }
    error = NULL;
    if (cpuset_parse(p, text, scope, &set, &error)) {
        if (set || !error || !*error) {
            abort();
        }
        return;
    }
    if (syntax || hwloc_bitmap_iszero(set)
        || !hwloc_bitmap_isincluded(set, scope->machine)) {
        abort();
    }
    list = cpuset_format(p, set);
    if (cpuset_parse(p, list, scope, &again, &error)
        || !hwloc_bitmap_isequal(set, again)) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int ready;
    cpuset_scope scope = {.object = object, .netdev = netdev};
    cpuset *machine, *allowed;
    apr_pool_t *p;

    if (!ready) {
        apr_initialize();
        ready = 1;
    }
    apr_pool_create(&p, NULL);
    machine = cpuset_make(p);
    hwloc_bitmap_set_range(machine, 0, CPUS - 1);
    allowed = cpuset_copy(p, machine);
    hwloc_bitmap_clr_range(allowed, 9, 12);
    scope.machine = machine;
    scope.allowed = allowed;
    check(p, apr_pstrmemdup(p, (const char *)data, size), &scope);
    apr_pool_destroy(p);
    return 0;
}
