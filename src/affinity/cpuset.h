/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpuset: sets of logical CPUs as the operating system numbers them, and the
 * CPUSET grammar of the directives. Any number of CPUs: sets are hwloc
 * bitmaps, never a cpu_set_t of fixed size. No httpd header is needed.
 */
#ifndef CPUAFFINITY_CPUSET_H
#define CPUAFFINITY_CPUSET_H

#include <apr_pools.h>
#include <apr_tables.h>

/* An hwloc bitmap; hwloc/bitmap.h's functions apply to it. */
typedef struct hwloc_bitmap_s cpuset;

/* What the topology-dependent words of the grammar mean. */
typedef struct cpuset_scope {
    const cpuset *machine; /* every CPU that exists, online or not */
    const cpuset *allowed; /* what "+" counts in and "!" complements in */
    /* Adds to @a set the allowed CPUs (all, where none is) of the @a index-th
     * object (logical index) of @a kind: "core" "l3" "numa" "package".
     * @return 0, or -1 with @a error set to a reason without the object's
     * name ("there are only 2") */
    int (*object)(void *ctx, const char *kind, unsigned index, cpuset *set,
                  const char **error);
    /* Adds to @a set the CPUs near network device @a name; 0 or -1. */
    int (*netdev)(void *ctx, const char *name, cpuset *set, const char **error);
    void *ctx;
    /* NULL: whatever the machine does not have is an error. Else the reason
     * is added here (const char *), and parsing goes on without it. */
    apr_array_header_t *missing;
} cpuset_scope;

/* A new empty set, freed with @a p. Never NULL (allocation failure aborts,
 * as in APR's pools). */
cpuset *cpuset_make(apr_pool_t *p);

/* A copy of @a set that lives as long as @a p. */
cpuset *cpuset_copy(apr_pool_t *p, const cpuset *set);

/* @a set as a list: "0-3,8", "" when empty, "0-" never (sets are finite).
 * Allocated from @a p. */
const char *cpuset_format(apr_pool_t *p, const cpuset *set);

/*
 * Parses a list as the kernel's files have it: "0-7,9" and a newline, or
 * nothing. Such a file may be under another's control, so nothing else is
 * accepted, nor any number beyond what a machine can have.
 * @return 0, or -1: not such a list, and @a set must not be used
 */
int cpuset_from_list(const char *text, cpuset *set);

/*
 * Parses one CPUSET word of the directives' grammar.
 * @param scope what the words mean; NULL checks the syntax alone (at
 *        directive time, before a topology is known) and yields no set
 *        A number past the machine's last CPU is refused; one in a hole below
 *        it is taken: the caller drops it with a reason, as it does CPUs that
 *        are offline.
 * @param set the result, allocated from @a p; on success never empty, unless
 *        something is missing; not touched on failure; may be NULL
 * @param error on failure a reason that shows the offending part, from @a p,
 *        without directive name: "'7-3' is a reversed range"
 * @return 0 or -1
 */
int cpuset_parse(apr_pool_t *p, const char *text, const cpuset_scope *scope,
                 cpuset **set, const char **error);

#endif
