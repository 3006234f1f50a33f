/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/not_mine.h"

#include "http_log.h"
#include "apr_strings.h"

#include "learn/counters.h"

APLOG_USE_MODULE(cpuaffinity);

/* So much of a field's name is shown. */
#define SHOWN 40

int not_mine_count(request_why why)
{
    counters_not_mine(why);
    return (int)why + 1;
}

uint64_t not_mine_counted(request_why why)
{
    return counters_get_not_mine(why);
}

void not_mine_name(const conn_rec *c, const request *req, const char *head)
{
    size_t len = req->culprit.len < SHOWN ? req->culprit.len : SHOWN;
    const char *name;

    if (!APLOG_IS_LEVEL(c->base_server, APLOG_DEBUG)) {
        return;
    }
    /* A token by its grammar; escaped all the same. */
    name = apr_pstrmemdup(c->pool, head + req->culprit.off, len);
    /* Not ap_log_cerror: that would give the connection a log id. */
    ap_log_error(APLOG_MARK, APLOG_DEBUG, 0, c->base_server,
                 "FixedStatic: a request is httpd's (%s): %s%s%s%s",
                 request_why_name(req->why), request_why_text(req->why),
                 len ? ": " : "", ap_escape_logitem(c->pool, name),
                 len < req->culprit.len ? "..." : "");
}

void not_mine_look(const conn_rec *c, const char *head, size_t len,
                   const request_limits *limits)
{
    request req;

    if (APLOG_IS_LEVEL(c->base_server, APLOG_DEBUG)
        && request_recognise(head, len, limits, &req) == REQUEST_NOT_MINE) {
        not_mine_name(c, &req, head);
    }
}
