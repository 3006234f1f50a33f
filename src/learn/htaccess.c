/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/htaccess.h"

#include <string.h>
#include <strings.h>

/* Bytes that are read as httpd reads a file. */
typedef struct text {
    const char *at;
    const char *end;
} text;

static apr_status_t get_char(char *ch, void *param)
{
    text *t = param;

    if (t->at == t->end) {
        return APR_EOF;
    }
    *ch = *t->at++;
    return APR_SUCCESS;
}

/* As apr_file_gets(). */
static apr_status_t get_line(void *buf, apr_size_t size, void *param)
{
    text *t = param;
    char *out = buf, *last = out + size - 1;

    if (size <= 1) {
        return APR_SUCCESS;
    }
    while (out < last && t->at < t->end) {
        *out++ = *t->at++;
        if (out[-1] == '\n') {
            break;
        }
    }
    *out = '\0';
    return out > (char *)buf ? APR_SUCCESS : APR_EOF;
}

static apr_status_t end_text(void *param)
{
    return APR_SUCCESS;
}

ap_configfile_t *htaccess_file(apr_pool_t *p, const char *path,
                               const char *bytes, size_t len)
{
    text *t = apr_palloc(p, sizeof(*t));

    t->at = bytes;
    t->end = bytes + len;
    return ap_pcfg_open_custom(p, path, t, get_char, get_line, end_text);
}

htaccess *htaccess_make(apr_pool_t *p)
{
    htaccess *a = apr_pcalloc(p, sizeof(*a));

    a->pool = p;
    a->dirs = apr_array_make(p, 4, sizeof(const char *));
    a->leaves = apr_array_make(p, 2, sizeof(const char *));
    a->variables = apr_array_make(p, 2, sizeof(const char *));
    return a;
}

static int has(const apr_array_header_t *list, const char *name)
{
    int i;

    for (i = 0; i < list->nelts; i++) {
        if (!strcmp(APR_ARRAY_IDX(list, i, const char *), name)) {
            return 1;
        }
    }
    return 0;
}

/* Is it a name below the answer's file, which is watched itself? */
static int is_below(const char *path, const char *file)
{
    size_t len = strlen(file);

    return !strncmp(path, file, len) && path[len] == '/';
}

reason_id htaccess_judge(const request_rec *r, htaccess *a, const char **detail)
{
    const struct htaccess_result *h;
    int i;

    for (h = r->htaccess; h; h = h->next) {
        if (!a || !has(a->dirs, h->dir)) {
            *detail = h->dir;
            return REASON_HTACCESS;
        }
    }
    for (i = 0; a && i < a->leaves->nelts; i++) {
        const char *path = APR_ARRAY_IDX(a->leaves, i, const char *);

        if (!is_below(path, r->filename) && watched_add(&a->on, path, NULL)) {
            *detail = path;
            return REASON_HTACCESS;
        }
    }
    return REASON_OK;
}

int htaccess_changes_index(const htaccess *a, const char *name)
{
    return a && a->index && strcmp(a->index, name) != 0;
}

int htaccess_is_in_key(const htaccess *a, const char *variable)
{
    int i;

    for (i = 0; a && i < a->variables->nelts; i++) {
        if (!strcasecmp(APR_ARRAY_IDX(a->variables, i, const char *),
                        variable)) {
            return 1;
        }
    }
    return 0;
}

int htaccess_is_still(const htaccess *a)
{
    return !a || watched_is_met(a->on.bytes, a->on.len);
}
