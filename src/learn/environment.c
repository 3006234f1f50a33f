/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/environment.h"

#include "apr_tables.h"

#include <string.h>
#include <strings.h>

#include "conf/tree.h"
#include "http/response.h"
#include "learn/setenvif.h"

/* It differs in each request. What reads it has to name it: expressions that
 * could put its name together refuse by other rules. */
#define UNIQUE "UNIQUE_ID"

/* The loop writes no line of the error log. */
static const char *const harmless[] = {"ErrorLogFormat"};

static int names_it(const char *text)
{
    return text && strcasestr(text, UNIQUE) != NULL;
}

int environment_is_read(apr_pool_t *p, const ap_directive_t *node)
{
    const char *word;
    size_t i;
    int n;

    for (i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++) {
        if (tree_is(node, harmless[i])) {
            return 0;
        }
    }
    /* As it is written, and with ${NAMES} replaced. */
    if (names_it(node->args)) {
        return 1;
    }
    for (n = 0; (word = tree_word(p, node, n)); n++) {
        if (names_it(word)) {
            return 1;
        }
    }
    return 0;
}

const char *environment_first(const request_rec *r, int unread,
                              const htaccess *a)
{
    const apr_array_header_t *all = apr_table_elts(r->subprocess_env);
    int i;

    for (i = 0; i < all->nelts; i++) {
        const char *name = APR_ARRAY_IDX(all, i, apr_table_entry_t).key;

        /* Who else sets that one says nothing about mod_unique_id. */
        if (strcasecmp(name, UNIQUE)
                ? !setenvif_is_in_key(name) && !htaccess_is_in_key(a, name)
                : !unread) {
            return name;
        }
    }
    return NULL;
}

int environment_copy(const request_rec *r, const apr_array_header_t *names,
                     char *out)
{
    size_t used = 0;
    int i;

    for (i = 0; i < names->nelts; i++) {
        const char *name = APR_ARRAY_IDX(names, i, const char *);
        const char *value = apr_table_get(r->subprocess_env, name);
        size_t len = strlen(name) + 1, more = value ? strlen(value) + 1 : 0;

        if (!value) {
            continue;
        }
        if (RESPONSE_ENV - used < len + more) {
            return -1;
        }
        memcpy(out + used, name, len);
        memcpy(out + used + len, value, more);
        used += len + more;
    }
    return (int)used;
}
