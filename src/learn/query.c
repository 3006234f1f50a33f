/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/query.h"

#include <string.h>

/* Of expressions, rewrite rules and environments. What is called REQUEST_URI in
 * the first two, and in SetEnvIf, is the path alone; programs have it with the
 * query in their environment, and they are not learned from (R2). */
static const char *const names[] = {"QUERY_STRING", "THE_REQUEST"};

static int names_it(const char *text)
{
    size_t i;

    for (i = 0; text && i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcasestr(text, names[i])) {
            return 1;
        }
    }
    return 0;
}

int query_is_read(apr_pool_t *p, const ap_directive_t *node)
{
    const ap_directive_t *n;
    const char *word;
    int i;

    /* As it is written, and with ${NAMES} replaced. */
    for (n = node; n; n = n->parent) {
        if (names_it(n->args)) {
            return 1;
        }
        for (i = 0; (word = tree_word(p, n, i)); i++) {
            if (names_it(word)) {
                return 1;
            }
        }
    }
    return 0;
}
