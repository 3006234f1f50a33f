/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/setter.h"

#include "apr_strings.h"

#include <string.h>
#include <strings.h>

/* What is looked at in place of a field. */
static const char *const others[] = {
    "Remote_Host", "Remote_Addr",      "Request_Method", "Request_URI",
    "Server_Addr", "Request_Protocol", "Host",
};

/* @return how many words stand before the variables; 0: it is none */
static int skipped(apr_pool_t *p, const ap_directive_t *node)
{
    const char *field = tree_word(p, node, 0);
    size_t i;

    if (tree_is(node, "BrowserMatch") || tree_is(node, "BrowserMatchNoCase")) {
        return 1;
    }
    if (!tree_is(node, "SetEnvIf") && !tree_is(node, "SetEnvIfNoCase")) {
        return 0;
    }
    for (i = 0; field && i < sizeof(others) / sizeof(others[0]); i++) {
        if (!strcasecmp(field, others[i])) {
            return 0;
        }
    }
    return 2;
}

void setter_add(apr_pool_t *p, unsigned server, const tree_place *at)
{
    obstacles_hint hint = {
        .reason = REASON_ENVIRONMENT,
        .advice = "take it away if no client needs it any more, or keep it to "
                  "the virtual host that does",
        .partly = 1,
        .quiet = 1,
    };
    int n = skipped(p, at->node);
    const char *word;

    for (; n && (word = tree_word(p, at->node, n)); n++) {
        if (*word != '!') {
            hint.group = apr_pstrmemdup(p, word, strcspn(word, "="));
            hint.what = apr_psprintf(p, "%s sets %s for some clients",
                                     at->node->directive, hint.group);
            obstacles_add(server, at, &hint);
        }
    }
}

static int is_one(const obstacle *o)
{
    return o->quiet && o->reason == REASON_ENVIRONMENT;
}

const obstacle *setter_find(unsigned server, const request_rec *r,
                            const char *name)
{
    const obstacle *o, *found = NULL, *last = NULL;
    unsigned i, n = 0;

    for (i = obstacles_first(server);
         (o = obstacles_at(i)) && o->server == server; i++) {
        if (is_one(o) && name && !strcasecmp(o->group, name)) {
            return o;
        }
        if (is_one(o) && !found && apr_table_get(r->subprocess_env, o->group)) {
            found = o;
        }
        last = is_one(o) ? o : last;
        n += is_one(o);
    }
    /* One in a section sets its variable later. */
    return !found && !name && n == 1 ? last : found;
}
