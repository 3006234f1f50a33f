/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/reach.h"

#include "apr_fnmatch.h"
#include "apr_strings.h"

#include "conf/tree.h"

/* What a section's argument is compared with. */
typedef enum reach_part {
    REACH_DIRECTORY,
    REACH_NAME, /* the last part of the file's name */
    REACH_LOCATION,
    REACH_ANY
} reach_part;

static const struct {
    const char *name;
    reach_part part;
    int match; /* its argument is an expression */
} kinds[] = {
    {"<Directory", REACH_DIRECTORY, 0}, {"<DirectoryMatch", REACH_DIRECTORY, 1},
    {"<Location", REACH_LOCATION, 0},   {"<LocationMatch", REACH_LOCATION, 1},
    {"<Files", REACH_NAME, 0},          {"<FilesMatch", REACH_NAME, 1},
};

struct reach {
    reach_part part;
    const char *text;
    int pattern;             /* 1: text has wildcards */
    const ap_regex_t *regex; /* in place of text */
    const reach *outer;
};

static const char *argument(apr_pool_t *p, const ap_directive_t *section, int n)
{
    const char *word = tree_word(p, section, n);
    size_t len = word ? strlen(word) : 0;

    return len && word[len - 1] == '>' ? apr_pstrmemdup(p, word, len - 1)
                                       : word;
}

static void take_argument(apr_pool_t *p, reach *s,
                          const ap_directive_t *section, int match)
{
    const char *text = argument(p, section, 0);

    if (text && !strcmp(text, "~")) {
        match = 1;
        text = argument(p, section, 1);
    }
    if (text && match) {
        s->regex = ap_pregcomp(p, text, 0);
    }
    s->text = text;
    s->pattern = text && apr_fnmatch_test(text);
    if (!text || (match && !s->regex)) {
        s->part = REACH_ANY;
    }
}

const reach *reach_make(apr_pool_t *p, const ap_directive_t *section)
{
    reach *s;
    size_t i;

    while (section && !tree_is_section(section)) {
        section = section->parent;
    }
    if (!section) {
        return NULL;
    }
    s = apr_pcalloc(p, sizeof(*s));
    s->part = REACH_ANY;
    for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (tree_is(section, kinds[i].name)) {
            s->part = kinds[i].part;
            take_argument(p, s, section, kinds[i].match);
        }
    }
    s->outer = reach_make(p, section->parent);
    return s;
}

static int matches(const reach *s, const char *text)
{
    if (s->regex) {
        return !ap_regexec(s->regex, text, 0, NULL, 0);
    }
    return s->pattern
               ? !apr_fnmatch(s->text, text, APR_FNM_PATHNAME | APR_FNM_PERIOD)
               : !strcmp(s->text, text);
}

/* A path or any that is above it; an expression sees the path as it is too. */
static int above(const reach *s, const char *path)
{
    char buf[1024];
    size_t len = strlen(path), at;

    if (len >= sizeof(buf)) {
        return 1;
    }
    memcpy(buf, path, len + 1);
    if (matches(s, buf)) {
        return 1;
    }
    for (at = len; at-- > 0;) {
        if (buf[at] != '/') {
            continue;
        }
        buf[at + 1] = '\0';
        if (matches(s, buf)) {
            return 1;
        }
        buf[at] = at ? '\0' : '/';
        if (at && matches(s, buf)) {
            return 1;
        }
    }
    return 0;
}

static int has(const reach *s, const char *uri, const char *filename)
{
    const char *name = strrchr(filename, '/');

    switch (s->part) {
    case REACH_DIRECTORY:
        return above(s, filename);
    case REACH_NAME:
        return matches(s, name ? name + 1 : filename);
    case REACH_LOCATION:
        return s->regex ? matches(s, uri) : above(s, uri);
    default:
        return 1;
    }
}

int reach_has(const reach *s, const char *uri, const char *filename)
{
    for (; s; s = s->outer) {
        if (!has(s, uri ? uri : "", filename ? filename : "")) {
            return 0;
        }
    }
    return 1;
}
