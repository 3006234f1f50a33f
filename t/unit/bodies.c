/* SPDX-License-Identifier: Apache-2.0 */
/* cache: encoded bodies: when they become live, which are shared, how many
 * there are, what goes with them. */
#include "cachetest.h"

#include <string.h>

static char *dup_body(const char *text)
{
    char *body = malloc(strlen(text));

    memcpy(body, text, strlen(text));
    return body;
}

/* httpd answered a key with a file through a filter; @a body NULL: it was
 * another process's, with the digest of @a text. */
static cache_outcome encode(cache *c, const char *key, const char *name,
                            const char *text, int64_t now, int with)
{
    char head[512], copy[512], *body = with ? dup_body(text) : NULL;
    uint64_t digest[2] = {strlen(text), (uint64_t)text[0]};
    cache_outcome outcome;
    const char *error;
    struct stat st;
    response a;

    snprintf(head, sizeof(head),
             "HTTP/1.1 200 OK\r\nDate: %s\r\nContent-Encoding: gzip\r\n"
             "Content-Length: %zu\r\n\r\n",
             date, strlen(text));
    if (stat(path(name), &st)
        || response_learn(&a, head, strlen(head), -1, RESPONSE_ENCODED, copy,
                          &error)
        || response_set_body(&a, text, strlen(text), digest)) {
        return CACHE_REFUSED;
    }
    outcome =
        cache_learn_body(c, key_of(key), &a, path(name), &st, now, NULL, &body);
    free(body);
    return outcome;
}

static int has(cache *c, const char *key, const char *text, int64_t now)
{
    cache_entry *e = find(c, key);

    return e && cache_may_use(c, e, now)
           && e->file->size == (int64_t)strlen(text) && e->file->fd < 0
           && !memcmp(e->file->data, text, strlen(text));
}

static void twice(void)
{
    cache *c = make();

    write_file("a", "hello");
    is_int(encode(c, "k", "a", "zip", 0, 1), CACHE_ONCE, "the first");
    ok(!use(c, "k", 0), "is not repeated");
    is_int(stats(c).memory, 0, "and costs no memory");
    is_int(encode(c, "k", "a", "zop!", 0, 1), CACHE_CHANGED, "another one");
    is_int(encode(c, "k", "a", "zip", 0, 1), CACHE_CHANGED, "and back");
    is_int(encode(c, "k", "a", "zip", 0, 1), CACHE_LIVE, "the second agrees");
    ok(has(c, "k", "zip", 10), "and is repeated");
    is_int(stats(c).memory, 3, "its bytes count");
    is_int(encode(c, "k", "a", "zap", 20, 1), CACHE_CHANGED,
           "the same digest, other bytes");
    ok(!use(c, "k", 20) && stats(c).memory == 0, "nothing is left");
    encode(c, "k", "a", "zip", 0, 1);
    encode(c, "k", "a", "zip", 0, 1);
    write_file("a", "other");
    ok(has(c, "k", "zip", 999), "within VALID");
    ok(!use(c, "k", 1001) && stats(c).stale == 1, "the file has changed");
    cache_free(c);
}

static void peers(void)
{
    cache *c = make();

    write_file("a", "hello");
    is_int(encode(c, "k", "a", "zip", 0, 0), CACHE_ONCE, "told");
    is_int(encode(c, "k", "a", "zip", 0, 0), CACHE_ONCE,
           "twice: there is no body");
    is_int(encode(c, "k", "a", "zip", 0, 1), CACHE_LIVE, "here it is");
    is_int(encode(c, "k", "a", "zip", 50000, 0), CACHE_LIVE, "renewed");
    ok(has(c, "k", "zip", 100000), "by another process");
    ok(!use(c, "k", 110001), "for a time");
    is_int(encode(c, "k", "a", "zip", 110002, 0), CACHE_LIVE,
           "and when it had expired");
    is_int(encode(c, "k", "a", "zipzip", 110003, 0), CACHE_CHANGED,
           "another process has another one");
    ok(!use(c, "k", 110003), "it is not repeated any more");
    cache_free(c);
}

static void shared(void)
{
    cache *c = make();
    char key[8];
    int i;

    write_file("a", "hello");
    write_file("b", "world");
    live(c, "p", "a", 0);
    for (i = 0; i < 2; i++) {
        encode(c, "k", "a", "zip", 0, 1);
        encode(c, "l", "a", "zip", 0, 1);
        encode(c, "m", "b", "zip", 0, 1);
    }
    ok(find(c, "k")->file == find(c, "l")->file, "keys share a body");
    ok(find(c, "m")->file != find(c, "k")->file, "but not of another file");
    ok(use(c, "p", 0) && find(c, "p")->file->size == 5, "beside the file");
    is_int(stats(c).memory, 5 + 3 + 3, "bytes");
    cache_forget_file(c, find(c, "k"));
    ok(!find(c, "k") && !find(c, "l") && !find(c, "p") && find(c, "m"),
       "all that is of a file is forgotten at once");
    for (i = 0; i < CACHE_KEYS_PER_FILE + 3; i++) {
        snprintf(key, sizeof(key), "s%d", i);
        encode(c, key, "a", "zip", 0, 1);
        is_int(encode(c, key, "a", "zip", 0, 1), CACHE_LIVE, "one more key");
    }
    ok(!use(c, "s0", 0) && use(c, "s3", 0), "pushes out another");
    cache_free(c);
}

static void bounded(void)
{
    static const char *const text[] = {"1", "22", "333", "4444", "55555"};
    cache_config k = config();
    cache *c = make();
    cache_entry *e = NULL;
    int i;

    write_file("a", "hello");
    live(c, "p", "a", 0);
    for (i = 0; i < 5; i++) {
        encode(c, text[i], "a", text[i], 0, 1);
        is_int(encode(c, text[i], "a", text[i], 0, 1), CACHE_LIVE,
               "one more body");
        if (i == 3) {
            ok(has(c, "1", "1", 1), "the first is used");
            e = find(c, "333");
            cache_hold(e);
        }
    }
    ok(!use(c, "22", 1), "the least lately used one went");
    ok(has(c, "1", "1", 1) && has(c, "333", "333", 1) && use(c, "p", 1),
       "the others did not");
    cache_release(c, e);
    cache_free(c);

    k.memory = 8;
    c = cache_make(&k);
    encode(c, "k", "a", "123456789", 0, 1);
    is_int(encode(c, "k", "a", "123456789", 0, 1), CACHE_REFUSED,
           "more than all memory");
    for (i = 0; i < 5; i++) {
        encode(c, text[i], "a", text[i], 0, 1);
        encode(c, text[i], "a", text[i], 0, 1);
        ok(stats(c).memory <= 8, "within the limit");
    }
    ok(use(c, "55555", 0), "the last is there");
    cache_free(c);
}

/* Bytes of a file that change without its times. */
static void mapped(void)
{
    cache *c = make();

    write_file("a", "hello");
    live(c, "p", "a", 0);
    encode(c, "k", "a", "zip", 0, 1);
    encode(c, "k", "a", "zip", 0, 1);
    encode(c, "l", "a", "zip", 0, 1);
    encode(c, "l", "a", "zip", 0, 1);
    is_int(encode(c, "k", "a", "zap!", 1, 1), CACHE_CHANGED,
           "another body of the same file");
    ok(!use(c, "k", 1) && !use(c, "l", 1) && !use(c, "p", 1),
       "all that was made of it is forgotten");
    cache_free(c);
}

/* What was made of the file as it was goes with the first answer anew. */
static void outdated(void)
{
    cache *c = make();

    write_file("a", "hello");
    encode(c, "k", "a", "zip", 0, 1);
    encode(c, "k", "a", "zip", 0, 1);
    encode(c, "l", "a", "zipzip", 0, 1);
    encode(c, "l", "a", "zipzip", 0, 1);
    is_int(stats(c).memory, 9, "two bodies");
    write_file("a", "hello you");
    encode(c, "k", "a", "zap!", 0, 1);
    is_int(encode(c, "k", "a", "zap!", 0, 1), CACHE_LIVE, "the file is new");
    is_int(stats(c).memory, 4, "its old bodies are gone");
    ok(!use(c, "l", 0) && has(c, "k", "zap!", 0), "with their keys");
    cache_free(c);
}

static void held(void)
{
    cache *c = make();
    cache_entry *e;

    write_file("a", "hello");
    encode(c, "k", "a", "zip", 0, 1);
    encode(c, "k", "a", "zip", 0, 1);
    use(c, "k", 0);
    e = find(c, "k");
    cache_hold(e);
    is_int(encode(c, "k", "a", "zop!", 1, 1), CACHE_CHANGED,
           "while it is sent");
    ok(!memcmp(e->file->data, "zip", 3), "its bytes stay");
    cache_forget_file(c, find(c, "k"));
    encode(c, "k", "a", "zip", 2, 1);
    is_int(encode(c, "k", "a", "zip", 2, 1), CACHE_LIVE, "it comes anew");
    ok(!memcmp(e->file->data, "zip", 3), "still");
    cache_release(c, e);
    cache_clear(c);
    is_int(stats(c).memory, 0, "all is gone in the end");
    cache_free(c);
}

int main(void)
{
    if (cachetest_start()) {
        return 1;
    }
    twice();
    peers();
    shared();
    bounded();
    mapped();
    outdated();
    held();
    cachetest_end();
    return done();
}
