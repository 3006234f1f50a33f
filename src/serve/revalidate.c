/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/revalidate.h"

#include <unistd.h>

#include "cache/cache_304.h"
#include "handoff/workers.h"
#include "http/response.h"

/* One hit of so many goes through httpd and is compared; of an answer that
 * rests on more than httpd's configuration and its file, more often. */
#define AUDIT 1000
#define AUDIT_WATCHED 50
/* So many may wait for a thread that is free. */
#define AUDITS 8

static int httpd_is_free(loop *l)
{
    return !door_length(l->door) && workers_idle(getpid(), &l->slot);
}

int revalidate_is_audit(loop *l, serve_state *st, const cache_entry *e)
{
    const unsigned every = e->watch ? AUDIT_WATCHED : AUDIT;

    if (e->hits % every == every - 1 && st->audits < AUDITS) {
        st->audits++;
    }
    if (!st->audits || !httpd_is_free(l)) {
        return 0;
    }
    st->audits--;
    return 1;
}

conn_note_ask revalidate_ask(loop *l, cache_entry *e, const request *req,
                             const char *head, int64_t seconds)
{
    if (request_is_whole(req)) {
        return cache_is_due(e, l->now) && httpd_is_free(l) ? CONN_NOTE_AGAIN
                                                           : CONN_NOTE_NEW;
    }
    /* Not what httpd would answer with a 200. */
    if (e->unchanged && !req->head_only && cache_304_is_due(e, l->now)
        && response_base_is_met(&e->answer.base, req, head, seconds)
        && httpd_is_free(l)) {
        cache_304_asked(e, l->now);
        return CONN_NOTE_304;
    }
    return CONN_NOTE_NEW;
}
