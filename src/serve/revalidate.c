/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/revalidate.h"

#include <unistd.h>

#include "handoff/workers.h"

/* One hit of so many goes through httpd and is compared. */
#define AUDIT 1000
/* So many may wait for a thread that is free. */
#define AUDITS 8

static int httpd_is_free(loop *l)
{
    return !door_length(l->door) && workers_idle(getpid(), &l->slot);
}

int revalidate_is_audit(loop *l, serve_state *st, const cache_entry *e)
{
    if (e->hits % AUDIT == AUDIT - 1 && st->audits < AUDITS) {
        st->audits++;
    }
    if (!st->audits || !httpd_is_free(l)) {
        return 0;
    }
    st->audits--;
    return 1;
}

int revalidate_is_due(loop *l, cache_entry *e, const request *req)
{
    return request_is_whole(req) && cache_is_due(e, l->now) && httpd_is_free(l);
}
