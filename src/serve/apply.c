/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/apply.h"

#include "cache/cache_304.h"
#include "cache/key_hints.h"
#include "http/response_304.h"
#include "learn/learn.h"

static void widen(serve_state *st, const lesson *said)
{
    if (said->vary & ~st->vary) {
        /* Keys are made with more fields from now on: entries whose keys were
         * made without them are not found again. */
        __atomic_store_n(&st->vary, st->vary | said->vary, __ATOMIC_RELEASE);
        cache_clear(st->cache);
    }
}

/* httpd refused, or could not answer (403, 500, 503: files, memory, disk), or
 * found the file no more: not a different answer, but what it says now. */
static int failed(const cache_entry *e, const lesson *said)
{
    return said->status >= HTTP_BAD_REQUEST
           && (said->kind == LESSON_REFUSED
               || (said->kind == LESSON_ANSWER && said->answer.message
                   && !e->answer.message));
}

/* What the answer was, or is to be, found by. */
static cache_key key_of(const lesson *said)
{
    return (cache_key){said->key, said->key_len, said->key_base,
                       said->shared && !learn_is_by_query(said->server.server)};
}

static cache_entry *find(serve_state *st, const lesson *said)
{
    cache_key key = key_of(said);

    return cache_find(st->cache, &key);
}

static void forget(serve_state *st, cache_entry *e, const lesson *said)
{
    cache_forget_file(st->cache, e);
    key_hints_forget(said->key, said->key_len, 0);
    key_hints_forget(said->key, said->key_base, 1);
}

/* A hit that was to be learned again: what cannot be learned is not
 * repeated. */
static void again(serve_state *st, const lesson *said)
{
    cache_entry *e = said->kind == LESSON_REFUSED ? find(st, said) : NULL;

    if (e) {
        forget(st, e, said);
    }
}

/* A 304 was asked for, and httpd gave something else, or one that cannot be
 * repeated. */
static void no_304(serve_state *st, const lesson *said)
{
    cache_entry *e = said->kind == LESSON_REFUSED ? find(st, said) : NULL;

    if (e && failed(e, said)) {
        forget(st, e, said);
    }
    else if (e) {
        cache_304_drop(e);
    }
}

/* Is what httpd said what the entry has? A 304 that it has not is none. */
static int agrees(const cache_entry *e, const lesson *said, int64_t now)
{
    const response_304 *u = e->answer.unchanged;

    if (said->kind == LESSON_304) {
        return !u || now >= u->until
               || response_304_is_same(u, &said->unchanged);
    }
    return said->kind == LESSON_ANSWER
           && response_is_same(&e->answer, &said->answer);
}

/* A hit that went through httpd: is its answer ours? (Its bytes are compared
 * when it is learned.) */
static void audit(loop *l, serve_state *st, const lesson *said)
{
    cache_entry *e = find(st, said);

    /* Look at the file at once: one that changed explains a difference. */
    if (!e) {
        return;
    }
    cache_distrust(e);
    if (!cache_may_use(st->cache, e, l->now)) {
        return;
    }
    if (failed(e, said)) {
        forget(st, e, said);
        return;
    }
    if (l->row) {
        SEAT_ADD(l->row, audited, 1);
    }
    if (agrees(e, said, l->now)) {
        return;
    }
    /* Through a mapping the file's bytes change long before its times. */
    if (said->kind == LESSON_ANSWER
        && response_is_alike(&e->answer, &said->answer)) {
        forget(st, e, said);
        return;
    }
    if (said->kind == LESSON_WIDEN
        || !cache_is_watched(e, said->watch, said->watch_len)
        || (said->kind == LESSON_REFUSED && said->reason == REASON_YOUNG)) {
        forget(st, e, said);
        return;
    }
    if (l->row) {
        SEAT_ADD(l->row, differed, 1);
    }
    learn_differs(said,
                  said->kind == LESSON_REFUSED ? "refused" : "header fields");
    cache_clear(st->cache);
    key_hints_clear();
}

/* Under its path, where nobody read the query: it may stand for others. */
static void learn(loop *l, serve_state *st, lesson *said)
{
    cache_key key = key_of(said);
    cache_outcome outcome;
    cache_entry *e;

    if (said->kind == LESSON_304) {
        cache_learn_304(st->cache, &key, &said->unchanged, said->path,
                        &said->st, said->when, said->watch, said->watch_len);
        return;
    }
    outcome =
        said->answer.message
            ? cache_learn_message(st->cache, &key, &said->answer, said->cause,
                                  said->path, said->digest, said->when,
                                  &said->server, &said->body)
            : cache_learn_watched(st->cache, &key, &said->answer, said->path,
                                  &said->st, said->when, &said->server,
                                  &said->body, said->watch, said->watch_len);
    switch (outcome) {
    case CACHE_LIVE:
        e = cache_find(st->cache, &key);
        key_hints_add(key.bytes, e && e->any ? key.base : key.len, e && e->any);
        if (l->row) {
            SEAT_ADD(l->row, learned, 1);
        }
        break;
    case CACHE_BY_QUERY:
        learn_query_is_read(said);
        cache_clear(st->cache);
        key_hints_clear();
        break;
    default:
        break;
    }
}

void apply_lesson(loop *l, serve_state *st, lesson *said)
{
    if (said->ask == CONN_NOTE_AUDIT) {
        audit(l, st, said);
    }
    else if (said->ask == CONN_NOTE_AGAIN) {
        again(st, said);
    }
    else if (said->ask == CONN_NOTE_304) {
        no_304(st, said);
    }
    if (said->kind == LESSON_WIDEN) {
        widen(st, said);
        return;
    }
    /* What was on its way when an audit turned its vhost off comes late, and
     * a key that was made with other fields is never found. */
    if (said->kind == LESSON_REFUSED || said->mask != st->vary
        || learn_is_off(said->server.server)) {
        return;
    }
    learn(l, st, said);
}
