/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/message.h"

#include <string.h>
#include <strings.h>

int message_is_forbidden(apr_pool_t *p, const ap_directive_t *node)
{
    const char *word;
    int n;

    /* What stands in for a missing name may come and go. */
    if (tree_is(node, "FallbackResource")) {
        word = tree_word(p, node, 0);
        return !word || strcasecmp(word, "disabled") != 0;
    }
    /* Its text may be an expression. */
    if (tree_is(node, "ErrorDocument")) {
        for (n = 0; (word = tree_word(p, node, n)); n++) {
            if (strchr(word, '%')) {
                return 1;
            }
        }
        return strchr(node->args, '%') != NULL;
    }
    return 0;
}
