/* SPDX-License-Identifier: Apache-2.0 */
/* cachebounds: what is bounded, and what goes first. */
#include "cachetest.h"

#include <malloc.h>
#include <sys/resource.h>

static void memory_bound(void)
{
    cache *c = make(); /* 10 bytes each, 100 in all, 2 descriptors */
    char name[16];
    int i;
    long over = 0;

    for (i = 0; i < 30; i++) {
        snprintf(name, sizeof(name), "m%d", i);
        write_file(name, "0123456789");
        live(c, name, name, i);
        use(c, "m0", i);
        over += stats(c).memory > 100;
    }
    is_int(over, 0, "never over the limit");
    is_int((long)stats(c).memory, 100, "which is used up");
    ok(use(c, "m0", 40) && use(c, "m29", 40) && !use(c, "m1", 40),
       "the longest unused went");
    is_int(learn(c, "m1", "m1", "", 50), CACHE_LIVE, "and is there again");
    cache_free(c);
}

static void descriptor_bound(void)
{
    cache *c = make();
    cache_config none = config();
    cache_entry *e;
    char name[16];
    int i;

    for (i = 0; i < 4; i++) {
        snprintf(name, sizeof(name), "d%d", i);
        write_file(name, "0123456789abc");
        is_int(live(c, name, name, i), CACHE_LIVE, "an open file");
    }
    is_int(stats(c).descriptors, 2, "two stay open");
    ok(!use(c, "d0", 5) && use(c, "d2", 5) && use(c, "d3", 6), "the last two");
    e = find(c, "d2");
    cache_hold(e);
    is_int(cache_shed(c, 9), 1, "EMFILE: one is given up");
    ok(use(c, "d2", 7) && !use(c, "d3", 7), "not the one being sent");
    is_int(live(c, "d0", "d0", 8), CACHE_LIVE, "room for one");
    is_int(live(c, "d1", "d1", 8), CACHE_LIVE, "which makes way");
    is_int(stats(c).descriptors, 2, "still two");
    cache_hold(find(c, "d1"));
    is_int(live(c, "d3", "d3", 9), CACHE_REFUSED, "none while all are sent");
    cache_release(c, find(c, "d1"));
    cache_release(c, e);
    cache_free(c);

    none.descriptors = 0;
    c = cache_make(&none);
    is_int(live(c, "d0", "d0", 0), CACHE_REFUSED, "no descriptor allowed");
    is_int(stats(c).files, 0, "nothing kept");
    cache_free(c);
}

static void flood(void)
{
    cache *c = make(); /* 100 entries */
    char key[16];
    int i, kept = 0, over = 0;

    write_file("a", "hello");
    write_file("b", "world");
    for (i = 0; i < 10; i++) {
        snprintf(key, sizeof(key), "hot%d", i);
        live(c, key, i < 5 ? "a" : "b", 0);
        use(c, key, 1);
    }
    for (i = 0; i < 3000; i++) {
        snprintf(key, sizeof(key), "n%d", i);
        live(c, key, "a", 2 + i / 1000);
        over += stats(c).entries > 100;
    }
    for (i = 5; i < 10; i++) {
        snprintf(key, sizeof(key), "hot%d", i);
        kept += use(c, key, 10);
    }
    is_int(kept, 5, "a flood of names pushes itself out");
    is_int(over, 0, "the number of entries is bounded");
    is_int(stats(c).entries, 100, "and used up");
    ok(stats(c).evicted > 2900, "evictions are counted");
    cache_free(c);
}

/* Hot keys stay although a new one is hit again and again. */
static void all_hot(void)
{
    cache_config k = config();
    cache *c;
    char key[16];
    int i;

    k.entries = 5;
    k.descriptors = 100;
    c = cache_make(&k);
    write_file("a", "hello");
    for (i = 0; i < 50; i++) {
        snprintf(key, sizeof(key), "n%d", i);
        live(c, key, "a", i);
        use(c, key, i);
        use(c, "n0", i);
    }
    ok(use(c, "n0", 60), "the one used all the time is still there");
    is_int(stats(c).entries, 5, "five");
    cache_free(c);
    k.entries = 1;
    c = cache_make(&k);
    live(c, "x", "a", 0);
    live(c, "y", "a", 0);
    ok(use(c, "y", 0) && !find(c, "x"), "a cache of one");
    cache_free(c);
    k.entries = 0;
    ok(!cache_make(&k), "none of nothing");
}

/* 5.40: out of descriptors, nothing is lost. */
static void emfile(void)
{
    cache *c = make();
    struct rlimit old, none;

    write_file("a", "hello");
    live(c, "k", "a", 0);
    getrlimit(RLIMIT_NOFILE, &old);
    none = old;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_NOFILE, &none);
    ok(!use(c, "k", 1000), "cannot look: httpd answers");
    is_int(live(c, "l", "a", 0), CACHE_LIVE, "a file in memory is shared");
    is_int(live(c, "m", "a", 1000), CACHE_REFUSED,
           "but not, unread, with a later answer");
    setrlimit(RLIMIT_NOFILE, &old);
    ok(use(c, "k", 1001), "and later it is used again");
    cache_free(c);
}

static void no_allocation(void)
{
    cache *c = make();
    struct mallinfo2 before, after;
    int i, hits = 0;

    write_file("a", "hello");
    live(c, "k", "a", 0);
    before = mallinfo2();
    for (i = 0; i < 900; i++) {
        cache_entry *e = find(c, "k");

        hits += cache_may_use(c, e, i);
        cache_hold(e);
        cache_release(c, e);
    }
    after = mallinfo2();
    is_int(hits, 900, "hits");
    ok(before.uordblks == after.uordblks && before.fordblks == after.fordblks,
       "allocate nothing");
    is_int((long)stats(c).validations, 0, "and look at nothing within VALID");
    is_int((long)stats(c).hits, 900, "counted");
    cache_free(c);
}

int main(void)
{
    if (cachetest_start()) {
        return 1;
    }
    memory_bound();
    descriptor_bound();
    flood();
    all_hot();
    emfile();
    no_allocation();
    cachetest_end();
    return done();
}
