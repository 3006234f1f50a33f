#include "fixed/study.h"

#include "fixed/known.h"

static void widen(statics *st, const lesson *said)
{
    if (said->vary & ~st->vary) {
        /* Keys are made with more fields from now on: none is found again
         * that was made without them. */
        __atomic_store_n(&st->vary, st->vary | said->vary, __ATOMIC_RELEASE);
        cache_clear(st->cache);
    }
}

/* A hit that went through httpd: is its answer ours? */
static void audit(loop *l, statics *st, const lesson *said)
{
    cache_entry *e = cache_find(st->cache, said->key, said->key_len);

    /* Look at the file at once: one that changed explains a difference. */
    if (!e || !cache_use(st->cache, e, l->now + st->config.valid + 1)) {
        return;
    }
    if (l->row) {
        SEAT_ADD(l->row, audited, 1);
    }
    if (said->kind == LESSON_ANSWER && answer_same(&e->answer, &said->answer)) {
        return;
    }
    if (said->kind == LESSON_WIDEN
        || (said->kind == LESSON_REFUSED && said->reason == LEARN_YOUNG)) {
        cache_forget(st->cache, e);
        return;
    }
    if (l->row) {
        SEAT_ADD(l->row, differed, 1);
    }
    learn_differs(said,
                  said->kind == LESSON_ANSWER ? "header fields" : "refused");
    cache_clear(st->cache);
    known_clear();
}

void study_lesson(loop *l, statics *st, const lesson *said)
{
    const lesson_server *tag;

    if (said->audit) {
        audit(l, st, said);
    }
    if (said->kind == LESSON_WIDEN) {
        widen(st, said);
        return;
    }
    /* What was on its way when an audit turned its vhost off comes late, and
     * a key that was made with other fields is never found. */
    if (said->kind != LESSON_ANSWER || said->mask != st->vary
        || learn_is_off(said->server.server)) {
        return;
    }
    tag = known_server(&said->server);
    if (tag
        && cache_learn(st->cache, said->key, said->key_len, &said->answer,
                       said->path, &said->st, said->when, tag)
               == CACHE_LIVE) {
        known_add(said->key, said->key_len);
        if (l->row) {
            SEAT_ADD(l->row, learned, 1);
        }
    }
}
