/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learn: when an answer of httpd may be learned. docs/security.md is the rule
 * book, and each rule is one function here: S1 and S2 at start
 * (modules, vhost), R0 to R8 for the request that is learned
 * (rule), with what was traced on its way (trace). What is refused
 * is logged once per reason and scope, counted, and listed by
 * "-t -D DUMP_CPUAFFINITY" as far as it is known before start.
 */
#ifndef CPUAFFINITY_LEARN_H
#define CPUAFFINITY_LEARN_H

#include "httpd.h"
#include "http_config.h"

#include "learn/lesson.h"
#include "learn/obstacle.h"
#include "learn/reason.h"

/* How often all processes of this generation refused for that reason. Any
 * thread. */
uint64_t learn_refusals(reason_id reason);

/* What is known of one server. */
typedef struct learn_state {
    const char *name;  /* of the vhost, "the main server" without one */
    int wanted;        /* FixedStatic is on somewhere in it */
    const char *rule;  /* that refuses it as a whole; NULL: none */
    const char *why;   /* directive and place, or module; NULL without rule */
    const char *query; /* the directive, with its place, for which answers are
                        * kept by query; NULL: none */
} learn_state;

/* What stands in the way, of all servers; NULL: there are no more. The n-th
 * has the index n. Any thread of a child. */
const obstacle *learn_obstacle(unsigned n);

/* How many requests met the n-th obstacle; how many to the n-th server httpd
 * answered for another cause (learn/cost): all processes of this generation.
 * Since when, seconds since 1970. Any thread. */
uint64_t learn_met(unsigned n);
uint64_t learn_cost(unsigned n, unsigned cause);
int64_t learn_since(void);

/* The n-th server's. @return 0: there are no more. Any thread of a child. */
int learn_server(unsigned n, learn_state *state);

/* --- For the loop; any thread after learn_child_init() --- */

/* An audit found that httpd's answer differs: FixedStatic is off for the
 * vhost in all processes from now on; logged and counted. The caller clears
 * its cache. Any thread. */
void learn_differs(const lesson *l, const char *what);

/* Did an audit, in any process, turn the vhost off? Any thread. */
int learn_is_off(const server_rec *s);

/* Two answers of httpd for one file differed, and of their requests nothing but
 * the queries did: the vhost's answers are kept by query in all processes from
 * now on; logged. The caller clears its cache. Any thread. */
void learn_query_is_read(const lesson *l);

/* Is an answer of the vhost kept by its query? Any thread. */
int learn_is_by_query(const server_rec *s);

/* How many vhosts audits of all processes have turned off, and of how many
 * answers were found to depend on queries: when it grows,
 * what was learned before is not to be repeated. Any thread. */
unsigned learn_offs(void);

/* --- Hooks, in the order in which httpd runs them --- */

/* Before the tree is processed, after all modules have registered their
 * providers: wraps authorisation providers (R4). pre_config REALLY_LAST. */
void learn_pre_config(apr_pool_t *pconf);

/* Reads what the tree says of servers (S2); in post_config. */
void learn_post_config(apr_pool_t *pconf, server_rec *s);

/* -t -D DUMP_CPUAFFINITY: what is refused as far as known. test_config. */
void learn_dump(apr_pool_t *p, server_rec *s);

/* Judges the hooks of all modules (S1). child_init REALLY_LAST, before the
 * loop starts. */
void learn_child_init(apr_pool_t *pchild, server_rec *s);

/* Registers filters and the hooks that trace a request, each with its order
 * and reason. register_hooks. */
void learn_register(apr_pool_t *p);

#endif
