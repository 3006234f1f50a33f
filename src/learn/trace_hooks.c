/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/trace_hooks.h"

#include "http_config.h"
#include "http_connection.h"
#include "http_core.h"
#include "http_protocol.h"
#include "http_request.h"
#include "util_filter.h"
#include "apr_portable.h"
#include "apr_strings.h"

#include <fcntl.h>
#include <unistd.h>

#include "cache/cache_file.h"

#include "learn/blame.h"
#include "learn/conn_note.h"
#include "learn/environment.h"
#include "learn/htaccess_open.h"
#include "learn/rule.h"
#include "learn/trace.h"
#include "learn/vhost.h"

extern module AP_MODULE_DECLARE_DATA cpuaffinity_module;

/* Above all filters that may compress; above and below the protocol's own. */
static ap_filter_rec_t *source_filter;
static ap_filter_rec_t *shape_filter;
static ap_filter_rec_t *head_filter;

/* R0: a trace begins with a note, and the note is used up. */
static int create_request(request_rec *r)
{
    const conn_note *note;
    trace *t;

    if (r->main || r->prev || r->connection->master || !vhost_has_any()) {
        return DECLINED;
    }
    note = conn_note_take(r->connection);
    if (note && note->keepalives == r->connection->keepalives) {
        t = apr_pcalloc(r->pool, sizeof(*t));
        t->note = note;
        t->reason = REASON_OK;
        ap_set_module_config(r->request_config, &cpuaffinity_module, t);
    }
    return DECLINED;
}

/* Whatever the answer will be, its head is seen; without a trace it is only
 * counted. */
static int post_read_request(request_rec *r)
{
    trace *t = r->main ? NULL : trace_of(r);

    if (t) {
        ap_add_output_filter_handle(head_filter, t, r, r->connection);
    }
    else if (!r->main && !r->prev && vhost_has_any()) {
        blame_untraced(r);
    }
    return DECLINED;
}

/* R6: the name that the configuration gave, before modules change it; and the
 * sections that applied by then: from a directory to its index is another. */
static int header_parser(request_rec *r)
{
    trace *t = r->main ? NULL : trace_of(r);

    if (t) {
        t->asked = r->per_dir_config;
        t->mapped = apr_pstrdup(r->pool, r->filename ? r->filename : "");
    }
    return DECLINED;
}

/* R6: httpd asks for a link's own status only on levels that lack
 * FollowSymLinks: there links are checked, and they may change. */
static apr_status_t dirwalk_stat(apr_finfo_t *finfo, request_rec *r,
                                 apr_int32_t wanted)
{
    /* Without a file httpd looks too, to find out how far the path goes. */
    if ((wanted & APR_FINFO_LINK) && r->finfo.filetype != APR_NOFILE) {
        trace_mark(r, REASON_LINKS, NULL);
    }
    return AP_DECLINED;
}

/* R5: what is in the environment now was put there for this request. */
static int fixups(request_rec *r)
{
    if (!r->main && trace_of(r)) {
        const vhost *s = vhost_of(r->server);
        const char *name =
            environment_first(r, s && !s->reads_unique, trace_of(r)->access);

        trace_of(r)->fixed = 1;
        if (name) {
            trace_mark(r, REASON_ENVIRONMENT, name);
        }
    }
    return DECLINED;
}

/* R2: every other handler has declined. */
int trace_hooks_handler(request_rec *r)
{
    trace *t = r->main ? NULL : trace_of(r);

    if (t) {
        t->defaulted = 1;
    }
    return DECLINED;
}

/* R3: all filters stand now. */
static void insert_filter(request_rec *r)
{
    trace *t = r->main ? NULL : trace_of(r);

    if (t && t->reason == REASON_OK) {
        rule_filters(r, t);
    }
    if (t && t->reason == REASON_OK) {
        ap_add_output_filter_handle(shape_filter, t, r, r->connection);
        ap_add_output_filter_handle(source_filter, t, r, r->connection);
    }
}

/* R3: httpd is about to write a message, and all filters for it stand. */
static void insert_error_filter(request_rec *r)
{
    trace *t = r->main ? NULL : trace_of(r);

    if (t && t->reason == REASON_OK) {
        t->written = 1;
        rule_filters(r, t);
    }
}

/* The descriptor when the brigade is one whole file and the end; NULL. */
static apr_file_t *whole_file(apr_bucket_brigade *bb, struct stat *st)
{
    apr_bucket *e = APR_BRIGADE_FIRST(bb);
    apr_file_t *file = NULL;
    apr_os_file_t fd;
    apr_off_t at = 0;

    /* A large file is cut into several buckets. */
    for (; e != APR_BRIGADE_SENTINEL(bb) && APR_BUCKET_IS_FILE(e);
         e = APR_BUCKET_NEXT(e)) {
        apr_bucket_file *f = e->data;

        if ((file && f->fd != file) || e->start != at) {
            return NULL;
        }
        file = f->fd;
        at += (apr_off_t)e->length;
    }
    if (!file || e == APR_BRIGADE_SENTINEL(bb) || !APR_BUCKET_IS_EOS(e)
        || APR_BUCKET_NEXT(e) != APR_BRIGADE_SENTINEL(bb)
        || apr_os_file_get(&fd, file) != APR_SUCCESS || fstat(fd, st) != 0
        || st->st_size != at) {
        return NULL;
    }
    return file;
}

static int is_named(const request_rec *r, apr_file_t *file)
{
    const char *name = NULL;

    apr_file_name_get(&name, file);
    return name && r->filename && !strcmp(name, r->filename);
}

static int is_still(int fd, const struct stat *st)
{
    cache_file_id before;

    return !cache_file_identify(&before, st)
           && cache_file_is_still(fd, &before);
}

/* What httpd has just judged conditions by. */
static void note_base(const request_rec *r, response_base *base)
{
    const char *tag = apr_table_get(r->headers_out, "ETag");
    size_t len = tag ? strlen(tag) : 0;

    if (len > sizeof(base->tag)) {
        return;
    }
    memset(base, 0, sizeof(*base));
    memcpy(base->tag, tag ? tag : "", len);
    base->tag_len = (uint8_t)len;
    base->modified = apr_time_sec(r->mtime);
    base->known = 1;
}

/* R6: what goes into the first filter that may compress. All of it is read
 * before this returns; the descriptor is ours, as the filters may close
 * httpd's. */
static apr_status_t look_at_source(ap_filter_t *f, apr_bucket_brigade *bb)
{
    trace *t = f->ctx;
    apr_file_t *file = t->filter && f->r->output_filters == f
                           ? whole_file(bb, &t->source)
                           : NULL;
    apr_os_file_t fd = -1;
    apr_status_t rv;

    note_base(f->r, &t->base);
    if (file && is_named(f->r, file) && !apr_os_file_get(&fd, file)) {
        fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
        t->sourced = fd >= 0;
    }
    ap_remove_output_filter(f);
    rv = ap_pass_brigade(f->next, bb);
    if (t->sourced) {
        rule_finish(f->r, t, is_still(fd, &t->source));
        close(fd);
    }
    return rv;
}

/* R6: what goes into the protocol's filters. */
static apr_status_t look_at_shape(ap_filter_t *f, apr_bucket_brigade *bb)
{
    trace *t = f->ctx;
    apr_file_t *file = whole_file(bb, &t->st);

    t->whole = file && is_named(f->r, file);
    ap_remove_output_filter(f);
    return ap_pass_brigade(f->next, bb);
}

/* Copies what there is of the head, and sets @a next to the bucket behind it.
 * @return 1: the empty line has come; -1: this is no head that we can read; 0:
 * more is to come */
static int collect_head(trace *t, apr_bucket_brigade *bb, apr_bucket **next)
{
    apr_bucket *e;

    for (e = APR_BRIGADE_FIRST(bb); e != APR_BRIGADE_SENTINEL(bb);
         e = APR_BUCKET_NEXT(e)) {
        const char *data;
        apr_size_t len;

        *next = APR_BUCKET_NEXT(e);

        if (APR_BUCKET_IS_METADATA(e)) {
            continue;
        }
        if (APR_BUCKET_IS_FILE(e)
            || apr_bucket_read(e, &data, &len, APR_BLOCK_READ) != APR_SUCCESS
            || len > sizeof(t->head) - t->head_len) {
            return -1;
        }
        memcpy(t->head + t->head_len, data, len);
        t->head_len += len;
        if (t->head_len >= 4
            && !memcmp(t->head + t->head_len - 4, "\r\n\r\n", 4)) {
            return 1;
        }
    }
    return 0;
}

/* The final head and what follows it: below only connection filters stand. */
static apr_status_t look_at_head(ap_filter_t *f, apr_bucket_brigade *bb)
{
    trace *t = f->ctx;
    apr_bucket *e = APR_BRIGADE_FIRST(bb);

    if (!t->capture) {
        int done = collect_head(t, bb, &e);

        if (done < 0) {
            trace_mark(f->r, REASON_HEAD, "its head cannot be read");
        }
        if (done) {
            rule_judge(f->r, t);
        }
        if (done && !t->capture) {
            ap_remove_output_filter(f);
        }
    }
    if (t->capture && capture_take(t->capture, bb, e)) {
        ap_remove_output_filter(f);
        if (t->cause != CACHE_CAUSE_FILE) {
            rule_finish(f->r, t, 1);
        }
    }
    return ap_pass_brigade(f->next, bb);
}

void trace_hooks_register(apr_pool_t *p)
{
    ap_hook_create_request(create_request, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_post_read_request(post_read_request, NULL, NULL,
                              APR_HOOK_REALLY_LAST);
    ap_hook_dirwalk_stat(dirwalk_stat, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_open_htaccess(htaccess_open, NULL, NULL, APR_HOOK_REALLY_FIRST);
    /* The first hook after map_to_storage. */
    ap_hook_header_parser(header_parser, NULL, NULL, APR_HOOK_REALLY_FIRST);
    /* Before mod_env puts its constants there. */
    ap_hook_fixups(fixups, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_insert_filter(insert_filter, NULL, NULL, APR_HOOK_REALLY_LAST);
    ap_hook_insert_error_filter(insert_error_filter, NULL, NULL,
                                APR_HOOK_REALLY_LAST);
    /* Core's default handler is at REALLY_LAST, and core has others: naming it
     * as a successor would put ours in front of them all. */
    ap_hook_handler(trace_hooks_handler, NULL, NULL, APR_HOOK_REALLY_LAST - 1);
    shape_filter = ap_register_output_filter("CPUAFFINITY_SHAPE", look_at_shape,
                                             NULL, AP_FTYPE_PROTOCOL - 1);
    source_filter = ap_register_output_filter(
        "CPUAFFINITY_SOURCE", look_at_source, NULL, AP_FTYPE_CONTENT_SET - 1);
    /* Below the filter that makes chunks. */
    head_filter = ap_register_output_filter("CPUAFFINITY_HEAD", look_at_head,
                                            NULL, AP_FTYPE_TRANSCODE + 1);
}
