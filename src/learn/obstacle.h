/* SPDX-License-Identifier: Apache-2.0 */
/*
 * obstacle: what stands in the way of repeating answers, as data: one record
 * for each directive that does, for each vhost that it applies to. Made once
 * per generation, read-only afterwards; dump, page and JSON are views of it.
 */
#ifndef CPUAFFINITY_OBSTACLE_H
#define CPUAFFINITY_OBSTACLE_H

#include <apr_pools.h>

#include "learn/reason.h"
#include "learn/reach.h"

typedef struct obstacle {
    unsigned index;      /* within the generation, from 0: counters are
                          * indexed by it */
    unsigned server;     /* the vhost's number, as for learn_server() */
    const char *section; /* "server", or `<Directory "/srv/www">` */
    const char *file;    /* the directive's; NULL: there is no directive */
    int line;
    reason_id reason;
    const char *rule;   /* as in docs/security.md */
    const char *what;   /* "RewriteEngine configures mod_rewrite.c" */
    const char *advice; /* what to change */
    int covers;         /* 1: nothing of the vhost is repeated, as far as the
                           configuration tells */
    int quiet;          /* 1: shown only when requests have met it */
    const char *group;  /* the directive, or the module behind it */
    const reach *reach; /* the requests that it is about */
} obstacle;

/* "RewriteEngine configures mod_rewrite.c (httpd.conf:12)", from @a p. */
const char *obstacle_text(apr_pool_t *p, const obstacle *o);

#endif
