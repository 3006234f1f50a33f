/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells in the note "observed" of each request what httpd has made of it, so
 * that two servers can be compared: variables, fields, filters, handler, type,
 * file, the names that were looked for (t/preload/names.c). Built by
 * t/learn-battery.t.
 */
#include "httpd.h"
#include "http_config.h"
#include "http_core.h"
#include "http_protocol.h"
#include "http_request.h"
#include "util_filter.h"
#include "apr_strings.h"

#include <dlfcn.h>
#include <stdlib.h>

module AP_MODULE_DECLARE_DATA observe_module;

#define NOTE "observed"

/* The request that the client sent. */
static request_rec *first(request_rec *r)
{
    while (r->main || r->prev) {
        r = r->main ? r->main : r->prev;
    }
    return r;
}

static void add(request_rec *r, const char *what, const char *value)
{
    request_rec *f = first(r);
    const char *before = apr_table_get(f->notes, NOTE);

    apr_table_setn(f->notes, NOTE,
                   apr_pstrcat(f->pool, before ? before : "", what, "=",
                               value ? value : "-", " ", NULL));
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "name:value;" by name; of notes, which are pointers at times, names only. */
static const char *table(request_rec *r, const apr_table_t *t)
{
    const apr_array_header_t *all = apr_table_elts(t);
    apr_array_header_t *lines =
        apr_array_make(r->pool, all->nelts + 1, sizeof(const char *));
    int i;

    for (i = 0; i < all->nelts; i++) {
        apr_table_entry_t e = APR_ARRAY_IDX(all, i, apr_table_entry_t);

        if (strcmp(e.key, NOTE)) {
            APR_ARRAY_PUSH(lines, const char *) = apr_pstrcat(
                r->pool, e.key, ":", t == r->notes ? "" : e.val, ";", NULL);
        }
    }
    qsort(lines->elts, (size_t)lines->nelts, sizeof(char *), compare);
    return apr_array_pstrcat(r->pool, lines, 0);
}

static const char *filters(request_rec *r, const ap_filter_t *f)
{
    const char *names = "";

    for (; f; f = f->next) {
        names = apr_pstrcat(r->pool, names, f->frec->name, ",", NULL);
    }
    return names;
}

static int begin(request_rec *r)
{
    void (*names_begin)(void) =
        (void (*)(void))dlsym(RTLD_DEFAULT, "names_begin");

    if (!r->main && !r->prev && names_begin) {
        names_begin();
    }
    return DECLINED;
}

static int at_fixups(request_rec *r)
{
    add(r, "fixups", r->uri);
    add(r, "variables", table(r, r->subprocess_env));
    add(r, "fields", table(r, r->headers_in));
    return DECLINED;
}

static void at_filters(request_rec *r)
{
    add(r, "out", filters(r, r->output_filters));
    add(r, "in", filters(r, r->input_filters));
}

static int at_log(request_rec *r)
{
    const char *(*names_end)(void) =
        (const char *(*)(void))dlsym(RTLD_DEFAULT, "names_end");
    request_rec *last = r;

    while (last->next) {
        last = last->next;
    }
    if (names_end) {
        const char *names = names_end();

        add(r, "names", names ? apr_pstrdup(r->pool, names) : "elsewhere");
    }
    add(r, "end", table(r, last->subprocess_env));
    add(r, "sent", table(r, last->headers_out));
    add(r, "always", table(r, last->err_headers_out));
    add(r, "notes", table(last, last->notes));
    add(r, "handler", last->handler);
    add(r, "type", last->content_type);
    add(r, "file", last->filename);
    add(r, "user", last->user);
    return DECLINED;
}

static void register_hooks(apr_pool_t *p)
{
    ap_hook_post_read_request(begin, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_fixups(at_fixups, NULL, NULL, APR_HOOK_REALLY_LAST);
    ap_hook_insert_filter(at_filters, NULL, NULL, APR_HOOK_REALLY_LAST);
    ap_hook_insert_error_filter(at_filters, NULL, NULL, APR_HOOK_REALLY_LAST);
    ap_hook_log_transaction(at_log, NULL, NULL, APR_HOOK_REALLY_FIRST);
}

AP_DECLARE_MODULE(observe) = {STANDARD20_MODULE_STUFF, 0, 0, 0, 0, 0,
                              register_hooks};
