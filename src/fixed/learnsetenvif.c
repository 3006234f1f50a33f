#include "fixed/learnsetenvif.h"

#include "ap_regex.h"
#include "apr_lib.h"
#include "apr_strings.h"

#include <strings.h>

#include "fixed/learn.h"

typedef struct expression {
    unsigned field;
    const ap_regex_t *regex;
} expression;

static apr_pool_t *pool;
static apr_array_header_t *expressions; /* of expression */

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

void learnsetenvif_reset(apr_pool_t *p)
{
    pool = p;
    expressions = apr_array_make(p, 8, sizeof(expression));
}

static const char *add(const char *name, const char *regex, int icase)
{
    const ap_regex_t *compiled =
        ap_pregcomp(pool, regex, AP_REG_EXTENDED | (icase ? AP_REG_ICASE : 0));
    int field = request_field(name, strlen(name));

    if (!compiled) {
        return "an expression cannot be compiled";
    }
    /* It would match every request that lacks the field. */
    if (!ap_regexec(compiled, "", 0, NULL, 0)) {
        return "matches an absent field";
    }
    /* Else a request that has the field is not mine anyway. */
    if (field >= 0) {
        expression *e = apr_array_push(expressions);

        e->field = (unsigned)field;
        e->regex = compiled;
    }
    return NULL;
}

const char *learnsetenvif_add(const ap_directive_t *node)
{
    int browser = !strncasecmp(node->directive, "BrowserMatch", 12);
    size_t len = strlen(node->directive);
    int icase = len > 6 && !strcasecmp(node->directive + len - 6, "NoCase");
    const char *name = browser ? "User-Agent" : learntree_word(pool, node, 0);
    const char *regex = learntree_word(pool, node, browser ? 0 : 1);

    if (!name || !regex || learntree_is(node, "SetEnvIfExpr")
        || !is_header(name)) {
        return "does not look at a request header";
    }
    return add(name, regex, icase);
}

int learn_setenvif(const request *req, const char *head)
{
    const expression *e;
    int i;

    if (!expressions) {
        return 0;
    }
    e = (const expression *)(void *)expressions->elts;
    for (i = 0; i < expressions->nelts; i++, e++) {
        /* Absent is like empty, and empty was seen not to match. */
        if (request_has(req, e->field)
            && !ap_regexec_len(e->regex, head + req->header[e->field].off,
                               req->header[e->field].len, 0, NULL, 0)) {
            return 1;
        }
    }
    return 0;
}
