/* SPDX-License-Identifier: Apache-2.0 */
/* The cache: one entry for all queries. */
#include "cachetest.h"

static cache_outcome learn_apart(cache *c, const char *text, const char *name)
{
    cache_key k = *key_of(text);
    struct stat st;

    k.shared = 0;
    stat(path(name), &st);
    return cache_learn(c, &k, answer_of(st.st_size, ""), path(name), &st, 0,
                       NULL);
}

/* One query alone shows nothing of others. */
static void one(void)
{
    cache *c = make();

    write_file("a", "hello");
    is_int(learn(c, "/a?1", "a", "", 0), CACHE_ONCE, "once");
    is_int(learn(c, "/a?1", "a", "", 0), CACHE_LIVE, "twice the same query");
    ok(use(c, "/a?1", 0), "it is known");
    ok(!find(c, "/a?2") && !find(c, "/a") && !find(c, "/a?"), "no other");
    is_int(learn(c, "/a", "a", "", 0), CACHE_LIVE, "and none");
    ok(use(c, "/a?2", 0) && use(c, "/a", 0) && use(c, "/a?", 0)
           && use(c, "/a?1", 0),
       "now all are");
    is_int(stats(c).entries, 1, "one entry");
    ok(!find(c, "/b?1") && !find(c, "/a/?1"), "of this path");
    cache_free(c);
}

static void two(void)
{
    cache *c = make();
    cache_key k;

    write_file("a", "hello");
    learn(c, "/a?1", "a", "", 0);
    is_int(learn(c, "/a?2", "a", "", 0), CACHE_LIVE, "two queries agree");
    ok(use(c, "/a?3", 0) && find(c, "/a")->any, "one for all");
    k = *key_of("/a?too long");
    k.len = 0;
    ok(cache_find(c, &k) != NULL, "also for a query that makes no key");
    learn(c, "/b", "a", "", 0);
    learn(c, "/b", "a", "", 0);
    k = *key_of("/b?too long");
    k.len = 0;
    ok(cache_find(c, &k) == NULL, "not where it is not for all");
    write_file("a", "hallo!");
    cache_distrust(find(c, "/a?1"));
    ok(!use(c, "/a?4", 0), "a change of the file shows");
    is_int(learn(c, "/a?1", "a", "", 0), CACHE_ONCE, "anew");
    is_int(learn(c, "/a?1", "a", "", 0), CACHE_LIVE, "...");
    ok(!find(c, "/a?2"), "for all only after two again");
    cache_free(c);
}

/* Somebody reads it. */
static void differ(void)
{
    cache *c = make();

    write_file("a", "hello");
    learn(c, "/a?1", "a", "X: 1\r\n", 0);
    is_int(learn(c, "/a?2", "a", "X: 2\r\n", 0), CACHE_BY_QUERY,
           "two queries, two answers");
    ok(!find(c, "/a?1") && !find(c, "/a?2"), "nothing is left");
    learn(c, "/a?1", "a", "X: 1\r\n", 0);
    is_int(learn(c, "/a?1", "a", "X: 2\r\n", 0), CACHE_CHANGED,
           "of one query it is a change");
    learn(c, "/a?2", "a", "X: 2\r\n", 0);
    is_int(learn(c, "/a?3", "a", "X: 3\r\n", 0), CACHE_BY_QUERY,
           "also after they have agreed");
    write_file("a", "hello");
    learn(c, "/a?1", "a", "", 0);
    write_file("a", "hallo!");
    is_int(learn(c, "/a?2", "a", "", 0), CACHE_CHANGED,
           "of another file it is a change");
    cache_free(c);
}

static void apart(void)
{
    cache *c = make();

    write_file("a", "hello");
    learn_apart(c, "/a?1", "a");
    is_int(learn_apart(c, "/a?2", "a"), CACHE_ONCE, "each query for itself");
    is_int(learn_apart(c, "/a?1", "a"), CACHE_LIVE, "...");
    is_int(learn_apart(c, "/a", "a"), CACHE_ONCE, "and none for itself");
    is_int(learn_apart(c, "/a", "a"), CACHE_LIVE, "...");
    ok(use(c, "/a?1", 0) && use(c, "/a", 0), "both are known");
    ok(!find(c, "/a?3"), "no other");
    is_int(learn(c, "/a?3", "a", "", 0), CACHE_LIVE,
           "one that nobody read agrees");
    ok(use(c, "/a?4", 0), "all are known");
    is_int(learn_apart(c, "/a?5", "a"), CACHE_ONCE, "until one is read");
    ok(!find(c, "/a?4") && !find(c, "/a"), "then what was for all is gone");
    ok(use(c, "/a?1", 0), "and what was not is not");
    learn(c, "/a?6", "a", "", 0);
    is_int(learn_apart(c, "/a", "a"), CACHE_CHANGED,
           "nor does it show anything of another's");
    ok(!find(c, "/a?6"), "...");
    cache_free(c);
}

int main(void)
{
    if (cachetest_start()) {
        return 1;
    }
    one();
    two();
    differ();
    apart();
    cachetest_end();
    return done();
}
