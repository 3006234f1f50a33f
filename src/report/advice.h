/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice: what keeps requests from the loop, the most expensive first, out of
 * the status JSON, which may come from anywhere: whatever is missing or of
 * another type counts as empty or 0. Pure; any thread.
 */
#ifndef CPUAFFINITY_ADVICE_H
#define CPUAFFINITY_ADVICE_H

#include <jansson.h>

#define ADVICE_FEW 200 /* with fewer requests shares say little */

/*
 * {"generation", "since", "restarted", "later" (only what came after before
 * counts), "few", "requests": {"loop", "httpd", "all"}, "costs": [row ...],
 * "learning": [row ...], "behind": [row ...]}, a row being {"requests", "share"
 * (per cent of all), "kind", "rule", "what", "section", "where" ("file:line" or
 * ""), "file", "line", "server", "servers", "advice"}. One directive for
 * several virtual hosts is one row. In "learning" is what was asked of httpd in
 * order to learn it, in "behind" obstacles of virtual hosts that are off which
 * no request met, because another one is in front.
 * @param before an earlier status of that server: only what came after it
 *        counts, unless httpd was restarted meanwhile ("restarted"); or NULL
 * @return a new reference, or NULL: *why says what is wrong with it (static)
 */
json_t *advice_make(const json_t *status, const json_t *before,
                    const char **why);

#endif
