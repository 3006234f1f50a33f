/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A module that hides behind a known name, for tests of what is noticed all
 * the same. Built by t/learn-audit.t.
 *   /sendfile/...  its handler sends the file that the Cookie names
 *   /turn/...      gets another header field once ServerRoot/turned is there
 *   /fail/...      is answered with the status in ServerRoot/failing, once
 *                  that is there
 */
#include "httpd.h"
#include "http_config.h"
#include "http_core.h"
#include "http_protocol.h"
#include "http_request.h"
#include "apr_strings.h"

static int send_file(request_rec *r)
{
    const char *cookie = apr_table_get(r->headers_in, "Cookie");
    const char *name = apr_pstrcat(r->pool, ap_document_root(r), "/",
                                   cookie ? cookie : "1k.txt", NULL);
    apr_bucket_brigade *bb;
    apr_file_t *file;
    apr_finfo_t info;

    if (strncmp(r->uri, "/sendfile/", 10)
        || apr_file_open(&file, name, APR_READ, 0, r->pool)
        || apr_file_info_get(&info, APR_FINFO_MIN, file)) {
        return DECLINED;
    }
    /* As if it were the file that was asked for. */
    r->filename = (char *)name;
    r->finfo = info;
    ap_update_mtime(r, info.mtime);
    ap_set_last_modified(r);
    ap_set_etag(r);
    ap_set_accept_ranges(r);
    ap_set_content_length(r, info.size);
    bb = apr_brigade_create(r->pool, r->connection->bucket_alloc);
    apr_brigade_insert_file(bb, file, 0, info.size, r->pool);
    APR_BRIGADE_INSERT_TAIL(bb,
                            apr_bucket_eos_create(r->connection->bucket_alloc));
    return ap_pass_brigade(r->output_filters, bb) ? AP_FILTER_ERROR : OK;
}

static int turn(request_rec *r)
{
    apr_finfo_t info;

    if (!strncmp(r->uri, "/turn/", 6)
        && !apr_stat(&info, ap_server_root_relative(r->pool, "turned"),
                     APR_FINFO_TYPE, r->pool)) {
        apr_table_setn(r->headers_out, "X-Turned", "1");
    }
    return DECLINED;
}

static int fail(request_rec *r)
{
    const char *name = ap_server_root_relative(r->pool, "failing");
    apr_file_t *file;
    char text[8] = "";

    if (!strncmp(r->uri, "/fail/", 6)
        && !apr_file_open(&file, name, APR_READ, 0, r->pool)) {
        apr_file_gets(text, sizeof(text), file);
        apr_file_close(file);
        return atoi(text);
    }
    return DECLINED;
}

static void register_hooks(apr_pool_t *p)
{
    ap_hook_handler(send_file, NULL, NULL, APR_HOOK_FIRST);
    ap_hook_fixups(turn, NULL, NULL, APR_HOOK_LAST);
    ap_hook_fixups(fail, NULL, NULL, APR_HOOK_LAST);
}

/* The name that httpd knows it by. */
#line 1 "mod_asis.c"
AP_DECLARE_MODULE(disguise) = {
    STANDARD20_MODULE_STUFF, NULL, NULL, NULL, NULL, NULL, register_hooks,
    AP_MODULE_FLAG_NONE};
