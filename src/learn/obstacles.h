/* SPDX-License-Identifier: Apache-2.0 */
/*
 * obstacles: the obstacles of this generation, collected while the tree is
 * read (vhost). Text is kept as it is given. Configuration time, and
 * read-only afterwards. Internal to learn.
 */
#ifndef CPUAFFINITY_OBSTACLES_H
#define CPUAFFINITY_OBSTACLES_H

#include "learn/obstacle.h"
#include "learn/reason.h"
#include "conf/tree.h"

/* What a directive means, where it stands. */
typedef struct obstacles_hint {
    reason_id reason;  /* REASON_OK: it does not stand in the way */
    const char *group; /* of those with the same group in a section, one is
                        * reported */
    const char *what;
    const char *advice;
    int yields; /* 1: the same directive further inside replaces it */
    int partly; /* 1: some answers only: it never covers a vhost */
    int quiet;  /* 1: shown only when requests have met it */
} obstacles_hint;

/* Forgets all. Results from @a p. */
void obstacles_reset(apr_pool_t *p);

/* Adds one for a server; @a at NULL: it stands nowhere in the tree, and covers
 * the vhost. */
void obstacles_add(unsigned server, const tree_place *at,
                   const obstacles_hint *hint);

/* Notes that the directive stands there and is harmless: an obstacle that
 * yields to it does not cover everything. */
void obstacles_harmless(unsigned server, const tree_place *at);

/* Notes where FixedStatic is on: in a section, or, @a at NULL, below the
 * server's document root. */
void obstacles_on(unsigned server, const tree_place *at, const char *root);

/* Forgets those of a server where FixedStatic is off. */
void obstacles_drop(unsigned server);

/* When all of the tree has been read: drops what does not matter, finds out
 * what covers a vhost, and gives each its index. */
void obstacles_finish(void);

/* The n-th; NULL at the end. All of a server stand together. */
const obstacle *obstacles_at(unsigned n);
unsigned obstacles_count(void);

/* The index of the first of a server; obstacles_count(): it has none. After
 * obstacles_finish(). */
unsigned obstacles_first(unsigned server);

/* The first one that refuses all of a server for that reason, NULL: none. */
const obstacle *obstacles_whole(unsigned server, reason_id reason);

/* The one that covers the server, NULL: none does. */
const obstacle *obstacles_covering(unsigned server);

/* The one of the server that @a node is, NULL: none. */
const obstacle *obstacles_of(unsigned server, const ap_directive_t *node);

#endif
