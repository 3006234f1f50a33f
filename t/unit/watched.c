/* SPDX-License-Identifier: Apache-2.0 */
/* Names that answers depend on besides their file: the list itself, and what
 * the cache makes of it. */
#include "cachetest.h"

#include "cache/cache_file.h"
#include "cache/watched.h"

static watched w;

/* Adds the name as it is now. */
static int add(const char *name)
{
    struct stat st;

    return watched_add(&w, path(name), stat(path(name), &st) ? NULL : &st);
}

static int met(void)
{
    return watched_is_met(w.bytes, w.len);
}

static void empty(void)
{
    memset(&w, 0, sizeof(w));
}

static void names(void)
{
    struct stat st;
    struct timespec old[2] = {{1, 0}, {1, 0}};

    empty();
    ok(met() && watched_is_valid(w.bytes, w.len), "an empty list is met");
    write_file("here", "text");
    ok(!add("here") && !add("none") && !add("here/below"), "three names");
    is_int(w.names, 3, "are three");
    ok(!add("here") && !add("none") && w.names == 3, "each of them once");
    ok(met() && watched_is_valid(w.bytes, w.len), "all are as they were");
    write_file("none", "");
    ok(!met(), "one has come");
    ok(add("none"), "a name has one outcome");
    unlink(path("none"));
    ok(met(), "and gone");
    write_file("here", "next");
    utimensat(AT_FDCWD, path("here"), old, 0);
    ok(!met(), "one was edited, its time set back");
    empty();
    add("here");
    chmod(path("here"), 0600);
    ok(!met(), "its mode has changed");
    empty();
    add("here");
    rename(path("here"), path("there"));
    ok(!met(), "it is gone");
    mkdir(path("here"), 0700);
    ok(!met(), "a directory is there");
    stat(path("here"), &st);
    empty();
    ok(watched_add(&w, path("here"), &st), "which is not to be watched");
    ok(watched_add(&w, "relative", NULL), "nor what is relative");
    add("there/below");
    ok(met(), "below a file there is nothing");
    unlink(path("there"));
    ok(met(), "nor below nothing");
    rmdir(path("here"));
    if (symlink("round", path("round"))) {
        printf("Bail out! symlink\n");
        exit(1);
    }
    empty();
    ok(!watched_add(&w, path("round"), NULL) && !met(),
       "what cannot be looked at is not absent");
    unlink(path("round"));
}

static void bounds(void)
{
    static char longest[WATCHED_BYTES];
    char name[32];
    unsigned i;

    empty();
    for (i = 0; i < WATCHED_NAMES; i++) {
        snprintf(name, sizeof(name), "n%u", i);
        if (add(name)) {
            break;
        }
    }
    is_int(i, WATCHED_NAMES, "so many names");
    ok(add("more") && watched_is_valid(w.bytes, w.len), "and no more");
    empty();
    memset(longest, 'x', sizeof(longest) - 2);
    longest[0] = '/';
    ok(!watched_add(&w, longest, NULL), "a long one");
    ok(watched_add(&w, "/", NULL) && watched_is_valid(w.bytes, w.len),
       "fills it");
}

static void forms(void)
{
    static const struct {
        const char *bytes;
        size_t len;
    } bad[] = {{"a", 1},     {"a/x", 3},       {"ax\0", 3},       {"\0/x\0", 4},
               {"f/x\0", 4}, {"a/x\0a", 5},    {"a/x\0b/y\0", 8}, {"/x\0", 3},
               {"a\0", 2},   {"f/x\0short", 9}};
    size_t i;

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char *copy = malloc(bad[i].len);

        memcpy(copy, bad[i].bytes, bad[i].len);
        ok(!watched_is_valid(copy, bad[i].len), "no list: %d", (int)i);
        ok(!watched_is_met(copy, bad[i].len), "and not met");
        free(copy);
    }
}

static cache_outcome learn_watched(cache *c, const char *key, const char *name,
                                   int64_t now)
{
    struct stat st;

    stat(path(name), &st);
    return cache_learn_watched(c, key_of(key), answer_of(st.st_size, ""),
                               path(name), &st, now, NULL, NULL, w.bytes,
                               w.len);
}

static cache *make_valid(int64_t valid)
{
    cache_config k = config();

    k.valid = valid;
    return cache_make(&k);
}

static void entries(void)
{
    cache *c = make_valid(100);
    cache_entry *e;

    write_file("f", "hello");
    write_file("g", "hello");
    empty();
    add("none");
    is_int(learn_watched(c, "/f", "f", 0), CACHE_ONCE, "once");
    is_int(learn_watched(c, "/f", "f", 0), CACHE_LIVE, "twice");
    learn_watched(c, "/g", "g", 0);
    is_int(learn_watched(c, "/g", "g", 0), CACHE_LIVE, "another of the list");
    e = find(c, "/f");
    ok(e->watch && e->watch == find(c, "/g")->watch, "they share it");
    ok(cache_is_watched(e, w.bytes, w.len) && !cache_is_watched(e, NULL, 0),
       "it is this one");
    ok(cache_may_use(c, e, 0), "it is usable");
    write_file("none", "");
    ok(cache_may_use(c, find(c, "/f"), 99), "it is, before VALID is over");
    ok(cache_may_use(c, find(c, "/g"), 99), "for both");
    ok(!cache_may_use(c, find(c, "/f"), 100), "then it is not");
    unlink(path("none"));
    ok(!cache_may_use(c, find(c, "/g"), 99),
       "nor what shares the list, though all is as it was again");
    ok(!find(c, "/f") && !find(c, "/g"), "they are gone");
    cache_free(c);
}

static void others(void)
{
    cache *c = make_valid(0);
    cache_entry *e;

    empty();
    add("none");
    learn_watched(c, "/f", "f", 0);
    learn_watched(c, "/f", "f", 0);
    add("none2");
    is_int(learn_watched(c, "/f", "f", 1), CACHE_CHANGED,
           "an answer that depends on more is another");
    is_int(learn_watched(c, "/f", "f", 1), CACHE_LIVE, "and live after two");
    is_int(learn(c, "/f", "f", "", 2), CACHE_CHANGED,
           "as one that depends on nothing");
    is_int(learn(c, "/f", "f", "", 2), CACHE_LIVE, "which is live after two");
    e = find(c, "/f");
    ok(!e->watch && cache_is_watched(e, NULL, 0), "of no list");
    learn_watched(c, "/f", "f", 3);
    learn_watched(c, "/f", "f", 3);
    e = find(c, "/f");
    ok(cache_may_use(c, e, 3), "it is usable");
    cache_hold(e);
    write_file("none", "");
    ok(!cache_may_use(c, e, 3), "no more");
    ok(e->watch != NULL, "what is held stays whole");
    cache_release(c, e);
    unlink(path("none"));
    cache_free(c);
}

static void distrusted(void)
{
    cache *c = make_valid(1000);
    cache_entry *e;

    empty();
    add("none");
    learn_watched(c, "/f", "f", 0);
    learn_watched(c, "/f", "f", 0);
    e = find(c, "/f");
    ok(cache_may_use(c, e, 0), "it is usable");
    write_file("none", "");
    ok(cache_may_use(c, e, 1), "within VALID");
    cache_distrust(e);
    ok(!cache_may_use(c, e, 1), "an audit looks at once");
    unlink(path("none"));
    cache_free(c);
}

int main(void)
{
    if (cachetest_start()) {
        return 1;
    }
    names();
    bounds();
    forms();
    entries();
    others();
    distrusted();
    cachetest_end();
    return done();
}
