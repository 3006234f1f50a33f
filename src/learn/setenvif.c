/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/setenvif.h"

#include "http_core.h"
#include "ap_regex.h"
#include "apr_lib.h"
#include "http_log.h"

#include <strings.h>

#include "base/linear.h"

APLOG_USE_MODULE(cpuaffinity);

/* What is looked for in each field; NULL: nothing. */
static linear *sets[REQUEST_ID_LIMIT];
static uint64_t looked_at; /* bit id: sets[id] has something */
static uint64_t unsure;    /* bit id: an expression is httpd's to evaluate */

/* What SetEnvIf takes for something else than a header. */
static const char *const special[] = {
    "Remote_Host",      "Remote_Addr",    "Server_Addr",
    "Request_Protocol", "Request_Method", "Request_URI",
};

static int is_header(const char *name)
{
    const char *p;
    size_t i;

    for (i = 0; i < sizeof(special) / sizeof(special[0]); i++) {
        if (!strcasecmp(special[i], name)) {
            return 0;
        }
    }
    /* Other characters make it a regular expression over all names. */
    for (p = name; *p; p++) {
        if (!apr_isalnum(*p) && *p != '-' && *p != '_') {
            return 0;
        }
    }
    return p != name;
}

static apr_status_t forget(void *unused)
{
    unsigned id;

    for (id = 0; id < REQUEST_ID_LIMIT; id++) {
        linear_free(sets[id]);
        sets[id] = NULL;
    }
    looked_at = unsure = 0;
    return APR_SUCCESS;
}

void setenvif_reset(apr_pool_t *p)
{
    forget(NULL);
    apr_pool_cleanup_register(p, NULL, forget, apr_pool_cleanup_null);
}

/* @return 1: the loop can evaluate it; 0: httpd alone */
static int is_linear(unsigned id, const char *regex, int icase)
{
    /* RegexDefaultOptions may have changed since httpd compiled it. */
    if (!icase && (ap_regcomp_get_default_cflags() & AP_REG_ICASE)) {
        return 0;
    }
    if (!sets[id] && !(sets[id] = linear_make())) {
        return 0;
    }
    return !linear_add(sets[id], regex, icase);
}

/* One directive, taken apart. */
typedef struct pattern {
    const char *name; /* of the field; NULL: something else */
    const char *regex;
    int icase;
} pattern;

static pattern parse(apr_pool_t *p, const ap_directive_t *node)
{
    int browser = !strncasecmp(node->directive, "BrowserMatch", 12);
    size_t len = strlen(node->directive);
    pattern t = {
        .name = browser ? "User-Agent" : tree_word(p, node, 0),
        .regex = tree_word(p, node, browser ? 0 : 1),
        .icase = len > 6 && !strcasecmp(node->directive + len - 6, "NoCase"),
    };

    if (!t.name || !t.regex || tree_is(node, "SetEnvIfExpr")
        || !is_header(t.name)) {
        t.name = NULL;
    }
    return t;
}

const char *setenvif_judge(apr_pool_t *p, const ap_directive_t *node)
{
    pattern t = parse(p, node);
    const ap_regex_t *compiled;

    if (!t.name) {
        return "does not look at a request header";
    }
    compiled =
        ap_pregcomp(p, t.regex, AP_REG_EXTENDED | (t.icase ? AP_REG_ICASE : 0));
    if (!compiled) {
        return "an expression cannot be compiled";
    }
    /* It would match every request that lacks the field. */
    return ap_regexec(compiled, "", 0, NULL, 0) ? NULL
                                                : "matches an absent field";
}

void setenvif_add(apr_pool_t *p, const ap_directive_t *node)
{
    pattern t = parse(p, node);
    int field =
        t.name && t.regex ? request_field_read(t.name, strlen(t.name)) : -1;

    if (field < 0) {
        return; /* a request that has the field is not mine anyway */
    }
    if (is_linear((unsigned)field, t.regex, t.icase)) {
        looked_at |= (uint64_t)1 << field;
        return;
    }
    unsure |= (uint64_t)1 << field;
    if (ap_state_query(AP_SQ_MAIN_STATE) != AP_SQ_MS_CREATE_PRE_CONFIG) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, NULL,
                     "FixedStatic: %s: the loop cannot look for \"%s\" "
                     "in a time that no client controls: requests with a "
                     "%s are httpd's",
                     tree_where(p, node), t.regex, t.name);
    }
}

int setenvif_has_match(const request *req, const char *head)
{
    uint64_t rest = req->present & (looked_at | unsure);

    /* Absent is like empty, and empty was seen not to match. */
    for (; rest; rest &= rest - 1) {
        unsigned id = (unsigned)__builtin_ctzll(rest);
        request_slice value = req->header[id];

        if (value.len
            && ((unsure >> id & 1)
                || linear_found(sets[id], head + value.off, value.len))) {
            return 1;
        }
    }
    return 0;
}
