/* SPDX-License-Identifier: Apache-2.0 */
/*
 * section: what a directive of the tree says beforehand of R1 to R7 and, in a
 * section, of S2: what stands in the way where it applies. Only for people to
 * read: it decides nothing, requests are judged by what happens to them (rule).
 * Configuration time. Internal to learn.
 */
#ifndef CPUAFFINITY_SECTION_H
#define CPUAFFINITY_SECTION_H

#include "learn/obstacles.h"

/*
 * Judges one.
 * @param at becomes the place of the <If> that the directive stands in
 * @param out its reason is REASON_OK when it does not stand in the way
 * @return 1 when it is one that can; text is static or from @a p
 */
int section_judge(apr_pool_t *p, tree_place *at, obstacles_hint *out);

/* Does it make httpd look for no .htaccess file anywhere? */
int section_forbids_htaccess(apr_pool_t *p, const tree_place *at);

/* That nothing does so. */
extern const obstacles_hint learnsection_htaccess;

/* What to do about a directive that S2 refuses. */
const char *section_advice(const ap_directive_t *node);

#endif
