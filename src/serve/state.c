#include "serve/state.h"

#include <errno.h>
#include <sys/random.h>
#include <time.h>

#include "http_log.h"

#include "conf/config.h"
#include "cache/key_hints.h"
#include "learn/learn.h"
#include "loop/descriptors.h"
#include "learn/peer_share.h"
#include "serve/serve.h"
#include "serve/apply.h"

APLOG_USE_MODULE(cpuaffinity);

/* Lessons taken per turn from each side. */
#define LESSONS 32
/* For slow clients at least; as a rule a quarter of FixedStaticMemory. */
#define KEPT_LEAST (1024 * 1024)

static serve_state *the_statics;

serve_state *state_get(void)
{
    return __atomic_load_n(&the_statics, __ATOMIC_ACQUIRE);
}

size_t state_key(const request *req, const char *head, const addr *local,
                 int keepalives, uint64_t vary, unsigned char key[REQUEST_KEY])
{
    unsigned char
        where[sizeof(in_port_t) + sizeof(struct in6_addr) + sizeof(uint32_t)];
    size_t len = sizeof(in_port_t);

    /* Virtual hosts are told apart by it: without, nothing is known. */
    if (!handoff_addr_is_known(local)) {
        return 0;
    }
    /* The port stands at the same place in both families. */
    memcpy(where, &local->in.sin_port, len);
    if (local->any.sa_family == AF_INET6) {
        memcpy(where + len, &local->in6.sin6_addr, 16);
        len += 16;
        /* Link-local addresses are one for each interface. */
        memcpy(where + len, &local->in6.sin6_scope_id, sizeof(uint32_t));
        len += sizeof(uint32_t);
    }
    else {
        memcpy(where + len, &local->in.sin_addr, 4);
        len += 4;
    }
    return request_key(req, head, where, len, keepalives == 0, vary, key);
}

void static_tell_time(serve_state *st)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME_COARSE, &t);
    if (t.tv_sec != st->clock.seconds) {
        response_clock_set(&st->clock, t.tv_sec);
    }
}

/* What was learned here and in the other processes. */
static void study(loop *l, serve_state *st)
{
    const lesson *heard;
    lesson *said;
    int n, m;

    for (n = 0; n < LESSONS && (said = lesson_next()); n++) {
        apply_lesson(l, st, said);
        lesson_free(said);
    }
    for (m = 0; m < LESSONS && peer_share_read(&heard); m++) {
        if (heard) {
            apply_lesson(l, st, heard);
        }
    }
    if (n == LESSONS || m == LESSONS) {
        loop_wake(l);
    }
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

    lesson_close();
    score_turn(&st->score, &l->slot, l->now, SERVER_DEAD);
    if (st->lines.needed) {
        access_log_stop();
    }
    __atomic_store_n(&the_statics, NULL, __ATOMIC_RELEASE);
    cache_clear(st->cache);
}

static const loop_server server = {
    .reads = reads,
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
        if (a->reads) {
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
    st->server = s;
    st->lines.needed = access_log_needed();
    st->vary = 1ull << REQUEST_ACCEPT_ENCODING;
    st->config.entries = (unsigned)cf->cache_entries;
    st->config.valid = cf->cache_valid;
    st->config.small = (uint64_t)cf->memory_size;
    st->config.memory = (uint64_t)cf->memory_limit;
    st->config.descriptors = descriptors_limit() / 4;
    send_bound(st->config.memory / 4 > KEPT_LEAST ? st->config.memory / 4
                                                  : KEPT_LEAST);
    if (getrandom(st->config.secret, sizeof(st->config.secret), 0)
            != sizeof(st->config.secret)
        || !(st->cache = cache_make(&st->config))
        || key_hints_make(pchild, st->config.entries)) {
        ap_log_error(APLOG_MARK, APLOG_ERR, errno, s,
                     "FixedStatic: no cache for this process");
        return NULL;
    }
    if (st->lines.needed) {
        access_log_start(s);
    }
    peer_share_follow();
    __atomic_store_n(&the_statics, st, __ATOMIC_RELEASE);
    return &server;
}
