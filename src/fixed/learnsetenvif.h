/*
 * learnsetenvif: the expressions of SetEnvIf and BrowserMatch, for the loop:
 * what matches one of them is httpd's (S2 of LEARNING.md). Internal to learn;
 * the loop calls learn_setenvif().
 */
#ifndef CPUAFFINITY_LEARNSETENVIF_H
#define CPUAFFINITY_LEARNSETENVIF_H

#include "fixed/learntree.h"

/* Forgets all expressions; those that follow live as long as @a p. */
void learnsetenvif_reset(apr_pool_t *p);

/*
 * Takes one directive in, wherever it stands: it counts for every vhost.
 * @return NULL; or why its server has to be refused: it looks at something
 *         else than a request header, or matches requests without it
 */
const char *learnsetenvif_add(const ap_directive_t *node);

#endif
