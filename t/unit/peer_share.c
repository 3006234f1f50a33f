/* SPDX-License-Identifier: Apache-2.0 */
/* peer_share: what is written is read again, and nothing else is.
 * links: src/learn/peer_share.c src/handoff/handoff.c
 */
#include "t/unit/tap.h"
#include "learn/peer_share.h"

#include "http/response_304.h"

#include <apr_general.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cache/cache.h"
#include "handoff/handoff.h"

#define HEAD                                                                   \
    "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"               \
    "Last-Modified: Sun, 06 Nov 1994 08:00:00 GMT\r\nETag: \"400-5\"\r\n"      \
    "Accept-Ranges: bytes\r\nContent-Length: 1024\r\n"
#define VARY "Vary: Accept-Encoding\r\n"
#define KEEP "Keep-Alive: timeout=5, max=100\r\nConnection: Keep-Alive\r\n"
#define TYPE "Content-Type: text/plain\r\n"
#define NOW 1000000
#define LONGEST (PEER_SHARE_FIXED + REQUEST_KEY + 4096 + RESPONSE_HEAD)

static char copy[RESPONSE_HEAD];

/* A lesson as rule makes them. */
static void fill(lesson *l, const char *head, unsigned flags)
{
    const char *error;

    memset(l, 0, sizeof(*l));
    l->kind = LESSON_ANSWER;
    l->ask = CONN_NOTE_AUDIT;
    l->status = 200;
    l->mask = 5;
    l->vary = 1;
    l->when = NOW - 5;
    response_learn(&l->answer, head, strlen(head), 1024, flags, copy, &error);
    l->st.st_dev = 1;
    l->st.st_ino = 2;
    l->st.st_size = 1024;
    l->st.st_mtim.tv_nsec = 3;
    l->server.server = (const server_rec *)(uintptr_t)0x1230;
    l->server.keep_alive = 1;
    l->server.keep_alive_max = 100;
    l->server.keep_alive_timeout = 5000000;
    l->server.idle = 4000000;
    l->server.timeout = 60000000;
    l->server.no_sendfile = 1;
    l->server.sections = 1;
    l->key = (const unsigned char *)"a key";
    l->key_len = l->key_base = 5;
    l->path = "/a/path";
}

static size_t write_all(const lesson *l, char *bytes)
{
    struct iovec parts[PEER_SHARE_PARTS];
    char fixed[PEER_SHARE_FIXED];
    size_t len = 0;
    int i;

    peer_share_write(l, fixed, parts);
    for (i = 0; i < PEER_SHARE_PARTS; i++) {
        memcpy(bytes + len, parts[i].iov_base, parts[i].iov_len);
        len += parts[i].iov_len;
    }
    return len;
}

static int is_same_answer(const response *a, const response *b)
{
    return response_is_same(a, b) && a->length_at == b->length_at
           && a->length_len == b->length_len && a->length_line == b->length_line
           && a->length_line_len == b->length_line_len && a->etag == b->etag
           && a->etag_len == b->etag_len && a->clocked == b->clocked
           && a->no_range == b->no_range && a->date == b->date
           && a->modified == b->modified;
}

static int is_same_server(const lesson_server *a, const lesson_server *b)
{
    return a->server == b->server && a->keep_alive == b->keep_alive
           && a->keep_alive_max == b->keep_alive_max
           && a->keep_alive_timeout == b->keep_alive_timeout
           && a->idle == b->idle && a->timeout == b->timeout
           && a->no_sendfile == b->no_sendfile && a->sections == b->sections;
}

static int is_same(const lesson *a, const lesson *b)
{
    return is_same_answer(&a->answer, &b->answer)
           && is_same_server(&a->server, &b->server) && a->kind == b->kind
           && a->status == b->status && a->mask == b->mask && a->vary == b->vary
           && a->when == b->when && !memcmp(&a->st, &b->st, sizeof(a->st))
           && a->key_len == b->key_len && a->key_base == b->key_base
           && a->shared == b->shared && !memcmp(a->key, b->key, a->key_len)
           && !strcmp(a->path, b->path);
}

static void test_round(void)
{
    static const char *const heads[] = {HEAD TYPE "\r\n", HEAD KEEP TYPE "\r\n",
                                        HEAD VARY TYPE "\r\n", HEAD "\r\n"};
    char bytes[LONGEST], head[RESPONSE_HEAD];
    lesson in, out;
    size_t i, len;
    unsigned flags;

    for (i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        for (flags = 0; flags < 8; flags++) {
            int rc;

            fill(&in, heads[i], flags);
            in.answer.env = "name\0value\0empty\0";
            in.answer.env_len = flags % 2 ? 18 : 0;
            len = write_all(&in, bytes);
            rc = peer_share_parse(bytes, len, NOW, &out, head);
            ok(!rc && is_same(&in, &out), "head %d, flags %u: the same again",
               (int)i, flags);
            ok(!rc && out.ask == CONN_NOTE_NEW, "but no audit");
        }
    }
}

#define UNCHANGED                                                              \
    "HTTP/1.1 304 Not Modified\r\n"                                            \
    "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nETag: \"400-5\"\r\n\r\n"

/* One of a 304. */
static void fill_304(lesson *l)
{
    const char *error;

    fill(l, HEAD "\r\n", 0);
    l->kind = LESSON_304;
    l->status = 304;
    l->vary = 0;
    response_304_learn(&l->unchanged, UNCHANGED, strlen(UNCHANGED), 0, copy,
                       &error);
    l->unchanged.base = (response_base){
        .modified = 5, .known = 1, .tag_len = 3, .tag = "\"a\""};
}

static void test_304(void)
{
    char bytes[LONGEST], head[RESPONSE_HEAD];
    lesson in, out;
    size_t len;

    fill_304(&in);
    len = write_all(&in, bytes);
    ok(!peer_share_parse(bytes, len, NOW, &out, head) && out.kind == LESSON_304
           && out.status == 304
           && response_304_is_same(&in.unchanged, &out.unchanged)
           && is_same_server(&in.server, &out.server)
           && !strcmp(in.path, out.path) && out.when == in.when
           && !memcmp(&in.st, &out.st, sizeof(in.st)),
       "a 304: the same again");
    in.unchanged.base.tag_len = RESPONSE_TAG + 1;
    len = write_all(&in, bytes);
    ok(peer_share_parse(bytes, len, NOW, &out, head), "refused: a long tag");
    fill_304(&in);
    in.unchanged.base.known = 2;
    len = write_all(&in, bytes);
    ok(peer_share_parse(bytes, len, NOW, &out, head), "refused: known 2");
    fill_304(&in);
    copy[9] = '2';
    len = write_all(&in, bytes);
    ok(peer_share_parse(bytes, len, NOW, &out, head),
       "refused: another status");
    fill_304(&in);
    in.kind = LESSON_ANSWER;
    in.answer.head = copy;
    in.answer.head_len = in.unchanged.head_len;
    len = write_all(&in, bytes);
    ok(peer_share_parse(bytes, len, NOW, &out, head),
       "refused: a 304 for an answer");
}

static const char long_env[RESPONSE_ENV + 2];

/* Each cut and each longer message; each field beyond what it may be. */
static void test_refused(void)
{
    char bytes[LONGEST], head[RESPONSE_HEAD], *exact;
    lesson l, out;
    size_t i, len, taken = 0;

    fill(&l, HEAD TYPE "\r\n", 0);
    len = write_all(&l, bytes);
    for (i = 0; i < len; i++) {
        exact = malloc(i + 1);
        memcpy(exact, bytes, i);
        taken += !peer_share_parse(exact, i, NOW, &out, head);
        free(exact);
    }
    bytes[len] = 0;
    taken += !peer_share_parse(bytes, len + 1, NOW, &out, head);
    is_int((long)taken, 0, "no other length is taken");
#define REFUSED(change, name)                                                  \
    do {                                                                       \
        fill(&l, HEAD TYPE "\r\n", 0);                                         \
        change;                                                                \
        len = write_all(&l, bytes);                                            \
        ok(peer_share_parse(bytes, len, NOW, &out, head), "refused: %s",       \
           name);                                                              \
    } while (0)
    REFUSED(l.kind = LESSON_REFUSED, "a refusal");
    REFUSED(l.kind = 77, "an unknown kind");
    REFUSED(l.when = NOW + 1, "from the future");
    REFUSED(l.when = NOW - CACHE_AGE, "too old");
    REFUSED(l.mask = ~UINT64_C(0), "fields that there are not in the key");
    REFUSED(l.vary = ~UINT64_C(0), "or in Vary");
    REFUSED(l.st.st_size = 1023, "another size");
    REFUSED(l.server.keep_alive = 2, "KeepAlive 2");
    REFUSED(l.server.keep_alive_max = -1, "MaxKeepAliveRequests -1");
    REFUSED(l.server.keep_alive_timeout = -1, "KeepAliveTimeout -1");
    REFUSED(l.server.idle = -1, "another's KeepAliveTimeout -1");
    REFUSED(l.server.timeout = -1, "Timeout -1");
    REFUSED(l.server.no_sendfile = 2, "EnableSendfile 2");
    REFUSED(l.server.sections = 2, "a flag of 2");
    REFUSED(l.path = "relative", "a relative path");
    REFUSED(l.path = "", "no path");
    REFUSED(l.answer.head_len -= 2, "a head without end");
    REFUSED(copy[9] = '3', "a head of another status");
    REFUSED((l.answer.env = "name", l.answer.env_len = 5),
            "a variable without a value");
    REFUSED((l.answer.env = "name\0v", l.answer.env_len = 6),
            "a value without an end");
    REFUSED((l.answer.env = long_env, l.answer.env_len = sizeof(long_env)),
            "too many variables");
    fill(&l, HEAD TYPE "\r\n", 0);
    len = write_all(&l, bytes);
    bytes[PEER_SHARE_FIXED + 5 + 3] = 0;
    ok(peer_share_parse(bytes, len, NOW, &out, head),
       "refused: a NUL in the path");
}

/* Names that the answer depends on. */
static void test_watched(void)
{
    char bytes[LONGEST], head[RESPONSE_HEAD];
    lesson l, out;
    size_t len;

    fill(&l, HEAD TYPE "\r\n", 0);
    l.watch = "a/srv/.htaccess\0a/.htaccess";
    l.watch_len = 28;
    l.answer.env = "name\0value";
    l.answer.env_len = 11;
    len = write_all(&l, bytes);
    ok(!peer_share_parse(bytes, len, NOW, &out, head), "names come along");
    ok(out.watch_len == 28 && !memcmp(out.watch, l.watch, 28), "the same");
    ok(out.answer.env_len == 11 && !memcmp(out.answer.env, l.answer.env, 11),
       "beside variables");
    REFUSED((l.watch = "a/.htaccess", l.watch_len = 11),
            "a name without an end");
    REFUSED((l.watch = "b/.htaccess", l.watch_len = 12), "another outcome");
    REFUSED((l.watch = "f/.htaccess", l.watch_len = 12), "no identity");
}

/* Keys that no request has. */
static void test_keys(void)
{
    char bytes[LONGEST], head[RESPONSE_HEAD];
    lesson l, out;
    size_t len;

    fill(&l, HEAD TYPE "\r\n", 0);
    l.key = (const unsigned char *)"k\0\2?q";
    l.key_base = 1;
    l.shared = 1;
    len = write_all(&l, bytes);
    ok(!peer_share_parse(bytes, len, NOW, &out, head) && out.key_base == 1
           && out.shared,
       "a key with a query");
    REFUSED(l.key_len = l.key_base = 0, "no key");
    REFUSED(l.key_base = 0, "no key of the path");
    REFUSED(l.key_base = 6, "a path's key that is longer");
    REFUSED(l.key_base = 4, "a query without its length");
    REFUSED((l.key = (const unsigned char *)"k\0\2?q", l.key_len = 5,
             l.key_base = 2),
            "a query at another place");
    REFUSED((l.key = (const unsigned char *)"k\0\1?q", l.key_len = 5,
             l.key_base = 1),
            "a query of another length");
    REFUSED((l.key = (const unsigned char *)"k\0\2/q", l.key_len = 5,
             l.key_base = 1),
            "no query");
    REFUSED(l.shared = 2, "another flag of 2");
}

#define GZIP "Content-Encoding: gzip\r\n"
#define CHUNKED "Transfer-Encoding: chunked\r\n"
#define START "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"

/* Of a compressed answer goes what its body is like, but not the body. */
static void test_encoded(void)
{
    char bytes[LONGEST], head[RESPONSE_HEAD], body[] = "body";
    lesson in, out;
    size_t len;

#define ENCODED(text, change, taken, name)                                     \
    do {                                                                       \
        fill(&in, START GZIP text TYPE "\r\n", RESPONSE_ENCODED);              \
        in.answer.digest[0] = 3;                                               \
        in.answer.digest[1] = 4;                                               \
        in.st.st_size = 5000;                                                  \
        in.body = body;                                                        \
        change;                                                                \
        len = write_all(&in, bytes);                                           \
        ok((peer_share_parse(bytes, len, NOW, &out, head) == 0) == (taken)     \
               && (!(taken) || (is_same(&in, &out) && !out.body)),             \
           "%s: %s", (taken) ? "taken" : "refused", name);                     \
    } while (0)
    ENCODED(CHUNKED, in.answer.content = 1000, 1, "chunks");
    ENCODED("Content-Length: 1024\r\n", (void)0, 1, "a length");
    ENCODED("", (void)0, 1, "neither");
    ENCODED(CHUNKED, in.answer.content = 1025, 0,
            "more in chunks than is sent");
    ENCODED(CHUNKED, in.answer.content = -1, 0, "less than nothing");
    ENCODED("", in.answer.content = 1000, 0, "chunks where there are none");
    ENCODED("Content-Length: 1024\r\n", in.answer.content = 1000, 0,
            "less than the length");
    ENCODED("Content-Length: 1024\r\n",
            in.answer.size = in.answer.content = 1025, 0, "another length");
    fill(&in, HEAD TYPE "\r\n", 0);
    in.answer.digest[0] = 3;
    len = write_all(&in, bytes);
    ok(peer_share_parse(bytes, len, NOW, &out, head),
       "refused: a digest of a file");
}

/* What a child tells. */
static void tell(int n)
{
    char key[32];
    lesson l;

    while (n--) {
        fill(&l, HEAD TYPE "\r\n", 0);
        l.when = clock_ms();
        l.key_len = l.key_base =
            (uint16_t)snprintf(key, sizeof(key), "key %d", n);
        l.key = (const unsigned char *)key;
        peer_share_post(&l);
    }
}

static void test_processes(void)
{
    apr_pool_t *p;
    lesson *l;
    int n = 0, own = 0;
    pid_t pid;

    ok(!peer_share_read(&l) && !l, "without a ring there is nothing");
    tell(1);
    apr_pool_create(&p, NULL);
    ok(!peer_share_make(p), "a ring");
    tell(1);
    peer_share_follow();
    pid = fork();
    if (!pid) {
        tell(3);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    tell(2);
    while (peer_share_read(&l)) {
        n += l && l->key_len == 5 && l->key[4] == '2' - n
             && !strcmp(l->path, "/a/path");
        own += !l;
    }
    is_int(n, 3, "what another process told");
    is_int(own, 2, "its own is passed over");
    apr_pool_destroy(p);
    ok(1, "the ring goes with its pool");
}

int main(void)
{
    apr_initialize();
    test_round();
    test_304();
    test_encoded();
    test_refused();
    test_watched();
    test_keys();
    test_processes();
    apr_terminate();
    return done();
}
