/* SPDX-License-Identifier: Apache-2.0 */
/*
 * directive: S2 of docs/security.md: what one directive of the configuration
 * tree means for learning, one function per kind of directive. Configuration
 * time. Internal to vhost.
 */
#ifndef CPUAFFINITY_DIRECTIVE_H
#define CPUAFFINITY_DIRECTIVE_H

#include "conf/tree.h"

/*
 * What a directive says of every server that it applies to. All members 0 or
 * NULL: nothing.
 */
typedef struct directive_verdict {
    const char *refuse;  /* why its servers are refused: static or from p */
    const char *section; /* why requests to its section are refused */
    int wanted;          /* FixedStatic on */
    int unwanted;        /* FixedStatic off */
    int plain;           /* validators are touched */
    int rewritten;       /* conditions or ranges of requests are */
    int tls;             /* SSLEngine on */
    int upgrades;        /* SSLEngine optional */
    int proxied;         /* PROXY protocol */
    int timeouts;        /* the three below are set */
    int64_t header_first;
    int64_t header_max;
    int header_rate;
} directive_verdict;

/* First of all of them: which request fields it reads, or logs show. @a p for
 * temporary text */
void directive_declare(apr_pool_t *p, const tree_place *at);

/* Judges one, when all have been declared. Results from @a p. */
void directive_judge(apr_pool_t *p, const tree_place *at,
                     directive_verdict *out);

/* The same for one that is not in the tree, and was not declared. Any worker.
 */
void directive_judge_late(apr_pool_t *p, const tree_place *at,
                          directive_verdict *out);

/* The mark that it needs (config_mark), as what it says is for its section
 * only; -1: none. Changes nothing. @a p for temporary text */
int directive_mark(apr_pool_t *p, const tree_place *at);

/* Is it a FixedStatic that is not off? @a p for temporary text. */
int directive_is_wish(apr_pool_t *p, const ap_directive_t *node);

/* RequestReadTimeout's default, when its module is there. */
#define DIRECTIVE_HEADER_FIRST 20000
#define DIRECTIVE_HEADER_MAX 40000
#define DIRECTIVE_HEADER_RATE 500

#endif
