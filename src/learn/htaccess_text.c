/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/htaccess_text.h"

#include "http_core.h"
#include "apr_strings.h"

#include <string.h>
#include <strings.h>

#include "conf/tree.h"
#include "learn/directive.h"
#include "learn/setenvif.h"

/* A directive of the file. @return NULL: it may stand there; or what it does */
typedef const char *judge(htaccess *a, const ap_directive_t *node);

/* mod_headers: as in httpd.conf. */
static const char *constant(htaccess *a, const ap_directive_t *node)
{
    const tree_place at = {node, NULL, NULL};
    directive_verdict v;

    directive_judge_late(a->pool, &at, &v);
    a->plain |= v.plain;
    a->rewritten |= v.rewritten;
    return v.refuse ? v.refuse : v.section;
}

/* Which of them counts is not told: all have to begin with the same name. */
static const char *index_names(htaccess *a, const ap_directive_t *node)
{
    const char *first = tree_word(a->pool, node, 0);

    if (!first || (a->index && strcmp(a->index, first) != 0)) {
        first = "";
    }
    a->index = first;
    return NULL;
}

static const char *options(htaccess *a, const ap_directive_t *node)
{
    const char *word;
    int n;

    for (n = 0; (word = tree_word(a->pool, node, n)); n++) {
        if (!strcasecmp(word + (*word == '+'), "MultiViews")) {
            return "lets other files answer";
        }
    }
    return NULL;
}

static const char *key_variables(htaccess *a, const ap_directive_t *node)
{
    return setenvif_names_of_key(node, a->variables)
               ? NULL
               : "looks at what is not in the key";
}

/* Why an answer does not depend on more than what is watched, or is seen. */
/* clang-format off */
#define BY_NAME    "by the file's name alone"
#define CONSTANT   "the same for all"
#define ERRORS     "of answers that are not learned"
#define HANDLERS   "R2 sees the handler"
#define FILTERS    "R3 sees the filter"
#define PROVIDERS  "R4 sees who is asked"
#define LINKS      "R6 sees which links are checked"
#define VALIDATORS "R7 sees what httpd computes"
#define LISTINGS   "of a listing: R2"
#define JUDGED     "by its arguments"
#define SECTION    "its content is judged"
#define SENDING    "goes with the lesson"
static const struct {
    const char *name;
    judge *judge; /* NULL: whatever its arguments are */
    const char *why;
} allowed[] = {
    {"<Files", NULL, SECTION},
    {"<FilesMatch", NULL, SECTION},
    {"<Limit", NULL, SECTION},
    {"<LimitExcept", NULL, SECTION},
    {"<RequireAll", NULL, SECTION},
    {"<RequireAny", NULL, SECTION},
    {"<RequireNone", NULL, SECTION},
    {"AcceptPathInfo", NULL, "a path behind the file's is not learned: R6"},
    {"Action", NULL, HANDLERS},
    {"AddAlt", NULL, LISTINGS},
    {"AddAltByEncoding", NULL, LISTINGS},
    {"AddAltByType", NULL, LISTINGS},
    {"AddCharset", NULL, BY_NAME},
    {"AddDefaultCharset", NULL, CONSTANT},
    {"AddDescription", NULL, LISTINGS},
    {"AddEncoding", NULL, BY_NAME},
    {"AddHandler", NULL, HANDLERS},
    {"AddIcon", NULL, LISTINGS},
    {"AddIconByEncoding", NULL, LISTINGS},
    {"AddIconByType", NULL, LISTINGS},
    {"AddLanguage", NULL, BY_NAME},
    {"AddOutputFilter", NULL, FILTERS},
    {"AddOutputFilterByType", NULL, FILTERS},
    {"AddType", NULL, BY_NAME},
    {"AuthBasicProvider", NULL, PROVIDERS},
    {"AuthGroupFile", NULL, PROVIDERS},
    {"AuthMerging", NULL, PROVIDERS},
    {"AuthName", NULL, PROVIDERS},
    {"AuthType", NULL, PROVIDERS},
    {"AuthUserFile", NULL, PROVIDERS},
    {"DefaultIcon", NULL, LISTINGS},
    {"DefaultLanguage", NULL, CONSTANT},
    {"DirectoryIndex", index_names, JUDGED},
    {"DirectorySlash", NULL, ERRORS},
    {"EnableMMAP", NULL, SENDING},
    {"EnableSendfile", NULL, SENDING},
    {"ErrorDocument", NULL, ERRORS},
    {"ExpiresActive", NULL, FILTERS},
    {"ExpiresByType", NULL, FILTERS},
    {"ExpiresDefault", NULL, FILTERS},
    {"FileETag", NULL, VALIDATORS},
    {"ForceType", NULL, CONSTANT},
    {"Header", constant, JUDGED},
    {"HeaderName", NULL, LISTINGS},
    {"IndexHeadInsert", NULL, LISTINGS},
    {"IndexIgnore", NULL, LISTINGS},
    {"IndexIgnoreReset", NULL, LISTINGS},
    {"IndexOptions", NULL, LISTINGS},
    {"IndexOrderDefault", NULL, LISTINGS},
    {"IndexStyleSheet", NULL, LISTINGS},
    {"LimitRequestBody", NULL, "a request with a body is not mine"},
    {"Options", options, LINKS},
    {"PassEnv", NULL, CONSTANT},
    {"ReadmeName", NULL, LISTINGS},
    {"RemoveCharset", NULL, BY_NAME},
    {"RemoveEncoding", NULL, BY_NAME},
    {"RemoveHandler", NULL, HANDLERS},
    {"RemoveLanguage", NULL, BY_NAME},
    {"RemoveOutputFilter", NULL, FILTERS},
    {"RemoveType", NULL, BY_NAME},
    {"RequestHeader", constant, JUDGED},
    {"Require", NULL, PROVIDERS},
    {"ServerSignature", NULL, ERRORS},
    {"SetEnv", NULL, CONSTANT},
    {"SetEnvIf", key_variables, JUDGED},
    {"SetEnvIfNoCase", key_variables, JUDGED},
    {"SetHandler", NULL, HANDLERS},
    {"SetOutputFilter", NULL, FILTERS},
    {"UnsetEnv", NULL, CONSTANT},
};
/* clang-format on */

/* What httpd does while it reads: these only choose among the lines, by what
 * stays as it is while it runs. */
static const char *const choosing[] = {"<IfModule", "<IfDefine", "<IfVersion"};

static const char *at_line(apr_pool_t *p, const ap_configfile_t *file,
                           unsigned line, const char *name, const char *what)
{
    return apr_psprintf(p, "%s %s (%s:%u)", name, what, file->name, line);
}

static int is_choosing(const char *name)
{
    size_t i;

    for (i = 0; i < sizeof(choosing) / sizeof(choosing[0]); i++) {
        if (!strcasecmp(choosing[i], name)) {
            return 1;
        }
    }
    return 0;
}

/* Would the line be acted upon when it is read? */
static int acts(apr_pool_t *p, const char *line, const char **name)
{
    module *m = ap_top_module;
    const command_rec *cmd;
    char *word = ap_getword_conf(p, &line);
    size_t len = strlen(word);

    if (len && word[len - 1] == '>') {
        word[len - 1] = '\0';
    }
    *name = word;
    if (*word == '#' || is_choosing(word)) {
        return 0;
    }
    for (; m && (cmd = ap_find_command_in_modules(word, &m)); m = m->next) {
        if (cmd->req_override & EXEC_ON_READ) {
            return 1;
        }
    }
    return 0;
}

/* Before httpd takes it apart: does that do anything else? */
static const char *look_at_lines(apr_pool_t *p, ap_configfile_t *file,
                                 size_t len)
{
    char *line = apr_palloc(p, len + 2);
    const char *name;
    apr_status_t rv;

    while (!(rv = ap_cfg_getline(line, len + 2, file))) {
        if (acts(p, line, &name)) {
            return at_line(p, file, file->line_number, name,
                           "acts while it is read");
        }
    }
    return rv == APR_EOF ? NULL
                         : at_line(p, file, file->line_number, "a line",
                                   "cannot be read");
}

static const char *judge_node(htaccess *a, const ap_configfile_t *file,
                              const ap_directive_t *node)
{
    const char *what = "is not known to be harmless";
    size_t i;

    for (i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++) {
        if (tree_is(node, allowed[i].name)) {
            what = allowed[i].judge ? allowed[i].judge(a, node) : NULL;
            break;
        }
    }
    return what ? at_line(a->pool, file, (unsigned)node->line_num,
                          node->directive, what)
                : NULL;
}

static const ap_directive_t *after(const ap_directive_t *node)
{
    if (node->first_child) {
        return node->first_child;
    }
    while (node && !node->next) {
        node = node->parent;
    }
    return node ? node->next : NULL;
}

/* ${NAMES} come from the environment while httpd reads. */
static const char *look_at_bytes(const char *bytes, size_t len)
{
    if (memchr(bytes, 0, len) || strstr(bytes, "${")) {
        return "has bytes that are not looked at";
    }
    return strcasestr(bytes, "UNIQUE_ID")
               ? "names UNIQUE_ID, which is another for each request"
               : NULL;
}

const char *htaccess_text_judge(htaccess *a, ap_configfile_t *file,
                                server_rec *server, const char *bytes,
                                size_t len)
{
    const char *why = look_at_bytes(bytes, len);
    ap_directive_t *tree = NULL;
    const ap_directive_t *node;
    cmd_parms parms = {
        .override = OR_ALL,
        .limited = -1,
        .pool = a->pool,
        .temp_pool = a->pool,
        .server = server,
    };

    if (why) {
        return apr_psprintf(a->pool, "%s %s", file->name, why);
    }
    why = look_at_lines(a->pool, file, len);
    if (why) {
        return why;
    }
    parms.config_file = htaccess_file(a->pool, file->name, bytes, len);
    why = ap_build_config(&parms, a->pool, a->pool, &tree);
    if (why) {
        return apr_psprintf(a->pool, "%s: %s", file->name, why);
    }
    for (node = tree; node && !why; node = after(node)) {
        why = judge_node(a, file, node);
    }
    return why;
}
