/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/section.h"

#include "http_config.h"
#include "http_core.h"
#include "apr_strings.h"

#include <strings.h>

#include "learn/filter.h"
#include "learn/modules.h"

typedef struct judged {
    apr_pool_t *p;
    const tree_place *at;
    obstacles_hint *out; /* never NULL */
} judged;

static void stands(judged *j, reason_id reason, const char *what,
                   const char *advice)
{
    j->out->reason = reason;
    j->out->what = apr_psprintf(j->p, "%s %s", j->at->node->directive, what);
    j->out->advice = advice;
}

static const char *word(const judged *j, int n)
{
    return tree_word(j->p, j->at->node, n);
}

static int is_word(const judged *j, int n, const char *text)
{
    const char *w = word(j, n);

    return w && !strcasecmp(w, text);
}

#define NO_HTACCESS                                                            \
    "AllowOverride None here and on every level above; move what the "         \
    ".htaccess files say into this section"

static void allow_override(judged *j)
{
    if (!is_word(j, 0, "None")) {
        stands(j, REASON_HTACCESS, "lets httpd look for .htaccess files",
               NO_HTACCESS);
    }
}

const obstacles_hint learnsection_htaccess = {
    REASON_HTACCESS,
    "AllowOverride",
    "httpd looks for .htaccess files: no AllowOverride None for the root "
    "directory",
    "<Directory \"/\"> AllowOverride None </Directory>",
    0,
    0,
    0};

int section_forbids_htaccess(apr_pool_t *p, const tree_place *at)
{
    const char *directory = tree_directory(p, at->section);
    const char *what = tree_word(p, at->node, 0);

    return tree_is(at->node, "AllowOverride")
           && tree_is(at->section ? at->section : at->node, "<Directory")
           && directory && !strcmp(directory, "/") && what
           && !strcasecmp(what, "None");
}

/* Words without a sign replace the options; words with one change them. */
static void options(judged *j)
{
    int n, follows = 1, checked = 0;
    const char *w;

    if (j->at->section && !tree_is(j->at->section, "<Directory")
        && !tree_is(j->at->section, "<DirectoryMatch")) {
        return; /* links are looked at on the way to the file only */
    }
    for (n = 0; (w = word(j, n)); n++) {
        int sign = *w == '+' || *w == '-';
        int links = !strcasecmp(w + sign, "FollowSymLinks")
                    || !strcasecmp(w + sign, "All");

        if (!sign && !n) {
            follows = 0;
        }
        follows |= links && *w != '-';
        checked |= links && *w == '-';
        checked |= *w != '-' && !strcasecmp(w + sign, "SymLinksIfOwnerMatch");
    }
    j->out->yields = !j->at->section;
    if (!follows || checked) {
        stands(j, REASON_LINKS, "has links checked on the way to a file",
               "FollowSymLinks and not SymLinksIfOwnerMatch, here and on "
               "every level above");
    }
}

static void require(judged *j)
{
    j->out->yields = 1;
    if (!is_word(j, 0, "all")) {
        stands(j, REASON_CLIENT, "asks who the client is",
               "Require all granted where everybody may read; whoever is let "
               "in because of who or where he is, is asked each time");
    }
}

/* A page in a <Location> or for some <Files> is a program by intent. */
static int is_program(const judged *j)
{
    const ap_directive_t *section = j->at->section;

    return section && !strchr(j->at->node->args, '%')
           && !tree_is(section, "<Directory")
           && !tree_is(section, "<DirectoryMatch")
           && !tree_directory(j->p, section);
}

static void set_handler(judged *j)
{
    j->out->yields = 1;
    if (!is_program(j) && !is_word(j, 0, "None")
        && !is_word(j, 0, "default-handler")) {
        stands(j, REASON_HANDLER, "lets something else than a file answer",
               "SetHandler None where files are served");
    }
}

/* The filters of SetOutputFilter, AddOutputFilter and AddOutputFilterByType. */
static void filters(judged *j)
{
    const char *names = word(j, 0);
    char *copy = apr_pstrdup(j->p, names ? names : ""), *state, *name;

    j->out->yields = tree_is(j->at->node, "SetOutputFilter");
    j->out->partly = !j->out->yields; /* those of a name or type */
    for (name = apr_strtok(copy, ";", &state); name;
         name = apr_strtok(NULL, ";", &state)) {
        if (strcasecmp(name, "None") && !filter_is_passing(name)) {
            stands(j, REASON_FILTER,
                   apr_psprintf(j->p, "puts %s on the way out", name),
                   "keep it to the sections whose answers it has to change");
            return;
        }
    }
}

static void content_digest(judged *j)
{
    if (!is_word(j, 0, "Off")) {
        stands(j, REASON_HEAD, "adds Content-MD5", "ContentDigest Off");
    }
}

static const struct {
    const char *name;
    void (*judge)(judged *);
} judges[] = {
    {"AllowOverride", allow_override},
    {"AllowOverrideList", allow_override},
    {"Options", options},
    {"Require", require},
    {"SetHandler", set_handler},
    {"SetOutputFilter", filters},
    {"AddOutputFilter", filters},
    {"AddOutputFilterByType", filters},
    {"ContentDigest", content_digest},
};

/* S2 in a section: the request shows it, by its module's configuration. */
static void judge_module(judged *j)
{
    const module *m = ap_top_module;
    const command_rec *cmd =
        ap_find_command_in_modules(j->at->node->directive, (module **)&m);
    int use = cmd && m ? modules_known(m) : -1;

    if (j->at->section && (use == MODULES_UNSET || use == MODULES_SECTION)) {
        stands(j, REASON_SECTION, apr_psprintf(j->p, "configures %s", m->name),
               section_advice(j->at->node));
        j->out->group = m->name;
    }
}

static int judge_condition(judged *j, tree_place *place)
{
    const ap_directive_t *outer = tree_condition(j->at), *n;

    if (!outer) {
        return 0;
    }
    *place = *j->at;
    place->node = outer;
    place->section = NULL;
    for (n = outer->parent; n && !place->section; n = n->parent) {
        if (tree_is_section(n)) {
            place->section = n;
        }
    }
    j->at = place;
    j->out->group = "<If";
    stands(j, REASON_CONDITION, "",
           "use <Directory>, <Files> or <Location> in place of the "
           "expression, or keep it to the section that needs it");
    j->out->what = "<If> decides by an expression";
    return 1;
}

int section_judge(apr_pool_t *p, tree_place *at, obstacles_hint *out)
{
    judged j = {p, at, out};
    size_t i;

    memset(out, 0, sizeof(*out));
    out->reason = REASON_OK;
    out->group = at->node->directive;
    if (judge_condition(&j, at)) {
        return 1;
    }
    for (i = 0; i < sizeof(judges) / sizeof(judges[0]); i++) {
        if (tree_is(at->node, judges[i].name)) {
            judges[i].judge(&j);
            return 1;
        }
    }
    judge_module(&j);
    return out->reason != REASON_OK;
}

static const struct {
    const char *name;
    const char *advice;
} advices[] = {
    {"Header", "set a constant value (no %, no condition), or keep it to the "
               "section that needs it"},
    {"RequestHeader", "keep it to the section that needs it"},
    {"HostnameLookups", "HostnameLookups Off; logresolve finds names later"},
    {"UseCanonicalName", "set it for the whole virtual host"},
    {"UseCanonicalPhysicalPort", "set it for the whole virtual host"},
    {"CustomLog", "leave that item out of the format"},
    {"GlobalLog", "leave that item out of the format"},
    {"TransferLog", "leave that item out of the format"},
    {"Alias", "put it into the virtual host"},
    {"Redirect", "put it into the virtual host"},
    {"Order", "Require in place of Order, Allow, Deny and Satisfy"},
    {"Allow", "Require in place of Order, Allow, Deny and Satisfy"},
    {"Deny", "Require in place of Order, Allow, Deny and Satisfy"},
    {"Satisfy", "Require in place of Order, Allow, Deny and Satisfy"},
    {"ExpiresActive", "Header set Cache-Control max-age=N says the same as "
                      "a constant"},
};

const char *section_advice(const ap_directive_t *node)
{
    size_t i;

    for (i = 0; i < sizeof(advices) / sizeof(advices[0]); i++) {
        if (tree_is(node, advices[i].name)) {
            return advices[i].advice;
        }
    }
    return "keep it to a virtual host, or to the sections, that need it";
}
