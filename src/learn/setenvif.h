/*
 * learnsetenvif: the expressions of SetEnvIf and BrowserMatch, for the loop:
 * what matches one of them is httpd's (S2 of LEARNING.md), and so is what has
 * a field in which something is looked for that is not linear. Internal to
 * learn; the loop calls setenvif_matches().
 */
#ifndef CPUAFFINITY_SETENVIF_H
#define CPUAFFINITY_SETENVIF_H

#include "conf/tree.h"

/* Forgets all expressions, now and when @a p ends. */
void setenvif_reset(apr_pool_t *p);

/*
 * @param p for what is compiled meanwhile and the text that is returned
 * @return NULL; or why whatever it applies to has to be refused: it looks at
 *         something else than a request header, or matches requests without it
 */
const char *setenvif_judge(apr_pool_t *p, const ap_directive_t *node);

/* Takes one in that is not refused, wherever it stands: it counts for every
 * vhost. Logs a warning where httpd alone can evaluate it. @a p as above */
void setenvif_add(apr_pool_t *p, const ap_directive_t *node);

#endif
