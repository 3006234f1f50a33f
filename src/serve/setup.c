/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/setup.h"

#include <errno.h>
#include <sys/random.h>
#include <sys/resource.h>

#include "http_log.h"

#include "cache/key_hints.h"
#include "conf/config.h"
#include "learn/learn.h"
#include "learn/outbox.h"
#include "learn/peer_share.h"
#include "loop/descriptors.h"
#include "serve/apply.h"
#include "serve/serve.h"
#include "serve/state.h"
#include "tls/keep.h"

APLOG_USE_MODULE(cpuaffinity);

/* Lessons taken per turn from each side. */
#define LESSONS 32
/* And of their bodies about so many bytes, which are compared. */
#define BODIES SEND_SLICE
/* The least to be kept for slow clients; normally a quarter of
 * FixedStaticMemory. */
#define KEPT_LEAST (1024 * 1024)
/* Milliseconds between two looks at the cache for the status. */
#define TELL 500

/* What was learned here and in the other processes. */
static void study(loop *l, serve_state *st)
{
    lesson *said, *heard;
    int64_t bodies = 0;
    int n, m;

    for (n = 0; n < LESSONS && bodies < BODIES && (said = outbox_next()); n++) {
        bodies += said->body ? said->answer.size : 0;
        apply_lesson(l, st, said);
        lesson_free(said);
    }
    for (m = 0; m < LESSONS && peer_share_read(&heard); m++) {
        if (heard) {
            apply_lesson(l, st, heard);
        }
    }
    if (n == LESSONS || m == LESSONS || bodies >= BODIES) {
        loop_wake(l);
    }
}

/* Shows the cache in the seat's row, which goes on when the process ends. */
static void tell_cache(seat_row *row, serve_state *st, int64_t now)
{
    cache_stats s;

    if (now - st->told < TELL) {
        return;
    }
    st->told = now;
    cache_get_stats(st->cache, &s);
    SEAT_SET(row, cache_entries, s.entries);
    SEAT_SET(row, cache_bytes, s.memory);
    SEAT_SET(row, cache_fds, s.descriptors);
    SEAT_ADD(row, evicted, s.evicted - st->was.evicted);
    SEAT_ADD(row, stale, s.stale - st->was.stale);
    SEAT_ADD(row, expired, s.expired - st->was.expired);
    st->was = s;
}

static void turn(loop *l, int64_t now)
{
    serve_state *st = l->answers_ctx;

    if (learn_offs() != st->offs) {
        st->offs = learn_offs();
        cache_clear(st->cache);
        key_hints_clear();
    }
    study(l, st);
    if (l->row) {
        SEAT_SET(l->row, waiting_bytes, send_kept());
        tell_cache(l->row, st, now);
    }
    score_turn(&st->score, &l->slot, now,
               __atomic_load_n(&l->stop, __ATOMIC_RELAXED) == LOOP_RUN
                   ? SERVER_READY
                   : SERVER_GRACEFUL);
    if (l->conns.count > l->room) {
        cache_shed(st->cache, 16);
    }
}

static int reads(loop *l, const sockets_group *g)
{
    const serve_state *st = state_get();

    return st && st->addresses[g - l->sockets->groups]->reads;
}

static int keeps(loop *l, const sockets_group *g)
{
    const serve_state *st = state_get();

    return st && st->addresses[g - l->sockets->groups]->keeps;
}

static void begin(loop *l)
{
    serve_state *st = state_get();

    l->answers_ctx = st;
    score_begin(&st->score);
}

/* All connections are closed by now. */
static void end(loop *l)
{
    serve_state *st = l->answers_ctx;

    outbox_close();
    score_turn(&st->score, &l->slot, l->now, SERVER_DEAD);
    if (st->lines.needed) {
        access_log_stop();
    }
    state_publish(NULL);
    cache_clear(st->cache);
}

static const loop_server server = {
    .reads = reads,
    .keeps = keeps,
    .ready = serve_ready,
    .expired = serve_expired,
    .stopping = serve_stopping,
    .closing = serve_closing,
    .begin = begin,
    .turn = turn,
    .end = end,
};

/* The smaller of two limits, of which 0 is none. */
static unsigned least(unsigned a, unsigned b)
{
    return !a ? b : !b || a < b ? a : b;
}

static int look_at_addresses(serve_state *st, apr_pool_t *p,
                             const sockets_set *sockets)
{
    int i, any = 0;

    st->addresses =
        apr_pcalloc(p, sizeof(*st->addresses) * (size_t)sockets->ngroups);
    for (i = 0; i < sockets->ngroups; i++) {
        const sockets_group *g = &sockets->groups[i];
        const address *a =
            address_make(p, (const struct sockaddr *)&g->local, g->protocol);

        st->addresses[i] = a;
        st->keeps |= a->keeps;
        if (a->reads || a->keeps) {
            any = 1;
            st->limits.line = least(st->limits.line, a->limits.line);
            st->limits.fields = least(st->limits.fields, a->limits.fields);
            st->limits.fieldsize =
                least(st->limits.fieldsize, a->limits.fieldsize);
        }
    }
    return any;
}

const loop_server *setup_make(apr_pool_t *pchild, server_rec *s,
                              const sockets_set *sockets)
{
    const config_server *cf = config_get(s);
    serve_state *st = apr_pcalloc(pchild, sizeof(*st));

    if (!look_at_addresses(st, pchild, sockets)) {
        return NULL;
    }
    if (st->keeps && keep_start()) {
        ap_log_error(APLOG_MARK, APLOG_ERR, 0, s,
                     "FixedTLS: connections with TLS stay httpd's in this "
                     "process: no memory");
    }
    st->server = s;
    st->lines.needed = access_log_is_needed();
    st->vary = 1ull << REQUEST_ACCEPT_ENCODING;
    st->config.entries = (unsigned)cf->cache_entries;
    st->config.valid = cf->cache_valid;
    st->config.small = (uint64_t)cf->memory_size;
    st->config.memory = (uint64_t)cf->memory_limit;
    st->config.descriptors = descriptors_limit() / 4;
    st->config.tag_size = sizeof(lesson_server);
    send_bound(st->config.memory / 4 > KEPT_LEAST ? st->config.memory / 4
                                                  : KEPT_LEAST);
    if (getrandom(st->config.secret, sizeof(st->config.secret), 0)
            != sizeof(st->config.secret)
        || !(st->cache = cache_make(&st->config))
        || key_hints_make(st->config.entries)) {
        ap_log_error(APLOG_MARK, APLOG_ERR, errno, s,
                     "FixedStatic: no cache for this process");
        return NULL;
    }
    if (st->lines.needed) {
        access_log_start(s);
    }
    peer_share_follow();
    state_publish(st);
    return &server;
}
