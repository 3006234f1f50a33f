/* SPDX-License-Identifier: Apache-2.0 */
/* response_304: which captured 304s are kept, and what is made of them; and by
 * which validators it is judged whether one is due. (t/learn-304.t compares
 * with httpd itself.) */
#include "http/response_304.h"

#include "http/response.h"
#include "tap.h"

#include <stdlib.h>

#define S304 "HTTP/1.1 304 Not Modified\r\n"
#define DATE "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
#define LATER "Date: Sun, 06 Nov 1994 08:49:38 GMT\r\n"
#define NOW 784111777
#define MODIFIED "Last-Modified: Sun, 06 Nov 1994 08:00:00 GMT\r\n"
#define ETAG "ETag: \"400-5\"\r\n"
#define KEEP "Keep-Alive: timeout=5, max=100\r\nConnection: Keep-Alive\r\n"
#define CLOSE "Connection: close\r\n"
#define THE (S304 DATE MODIFIED ETAG)
#define GZIP                                                                   \
    ("HTTP/1.1 200 OK\r\n" DATE MODIFIED "ETag: \"400-5-gzip\"\r\n"            \
     "Vary: Accept-Encoding\r\nContent-Encoding: gzip\r\n"                     \
     "Content-Length: 500\r\n\r\n")
#define PLAIN                                                                  \
    ("HTTP/1.1 200 OK\r\n" DATE "ETag: \"mine\"\r\n"                           \
     "Content-Length: 1024\r\n\r\n")
#define ASK(fields) "GET / HTTP/1.1\r\nHost: a\r\n" fields "\r\n"

static char copy[RESPONSE_HEAD + 1];
static const char *error;
static int clocked;

static int learn(response_304 *u, const char *head)
{
    return response_304_learn(u, head, strlen(head), clocked, copy, &error)
           == 0;
}

static void test_learned(void)
{
    static const char *const heads[] = {
        S304 DATE MODIFIED ETAG "\r\n",
        S304 DATE MODIFIED ETAG KEEP "\r\n",
        S304 DATE ETAG CLOSE "\r\n",
        S304 DATE "\r\n",
        S304 DATE "X: a\r\nX: b\r\nVary: DNT\r\n\r\n",
        S304 DATE "Upgrade: h2c\r\nConnection: Upgrade\r\n" ETAG "\r\n",
    };
    response_304 u;
    size_t i, n;

    for (i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        ok(learn(&u, heads[i]), "learned: head %d", (int)i);
    }
    learn(&u, S304 DATE MODIFIED ETAG KEEP "\r\n");
    is_int(u.head_len, (long)strlen(S304 DATE MODIFIED ETAG "\r\n"),
           "connection lines are gone");
    is_int(u.date, NOW, "its date");
    for (n = 0; n < strlen(heads[1]); n++) {
        char *exact = malloc(n + 1);
        int rc;

        memcpy(exact, heads[1], n);
        rc = response_304_learn(&u, exact, n, 0, copy, &error);
        free(exact);
        if (!rc) {
            break;
        }
    }
    is_int((long)n, (long)strlen(heads[1]), "no part of one");
}

static void test_refused(void)
{
    static const struct {
        const char *head, *why;
    } t[] = {
        {"HTTP/1.1 200 OK\r\n" DATE "\r\n", "another status"},
        {S304 ETAG DATE "\r\n", "Date not first"},
        {S304 DATE DATE "\r\n", "Date twice"},
        {S304 "Date: Sun, 06 Nov 1994 08:49:61 GMT\r\n\r\n", "no date"},
        {S304 DATE "Content-Length: 3\r\n\r\n", "a length"},
        {S304 DATE "content-type: a/b\r\n\r\n", "a type"},
        {S304 DATE "Content-Encoding: gzip\r\n\r\n", "a coding"},
        {S304 DATE "Set-Cookie: a=b\r\n\r\n", "a cookie"},
        {S304 DATE "Age: 1\r\n\r\n", "an age"},
        {S304 DATE KEEP ETAG "\r\n", "a field after the connection lines"},
        {S304 DATE "Keep-Alive: timeout=5\r\n\r\n", "half of them"},
        {S304 DATE "Connection: Keep-Alive\r\n\r\n", "the other half"},
        {S304 DATE "Connection: x\r\n\r\n", "another Connection"},
        {S304 DATE "X\r\n\r\n", "no field"},
        {S304 DATE "X: \x01\r\n\r\n", "a control character"},
        {S304 DATE "X: \xe4\r\n\r\n", "a byte above ASCII"},
        {S304 DATE "X: a\n\r\n", "a bare LF"},
        {S304 DATE "\r\nx", "more than a head"},
    };
    response_304 u;
    size_t i;

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        ok(!learn(&u, t[i].head) && error, "not learned: %s", t[i].why);
    }
}

static const response_304 *kept(response_304 *u, const char *head,
                                const char *tag, int64_t modified)
{
    static char bytes[RESPONSE_HEAD];
    response_304 l;

    learn(&l, head);
    l.base.known = 1;
    l.base.modified = modified;
    l.base.tag_len = (uint8_t)strlen(tag);
    memcpy(l.base.tag, tag, l.base.tag_len);
    response_304_copy(u, &l, bytes);
    u->until = 1000;
    return u;
}

static void test_agreement(void)
{
    response_304 a, b;

    kept(&a, S304 DATE ETAG KEEP "\r\n", "\"400-5\"", 5);
    learn(&b, S304 LATER ETAG CLOSE "\r\n");
    b.base = a.base;
    ok(response_304_is_same(&a, &b), "dates and connection lines do not count");
    b.base.modified++;
    ok(!response_304_is_same(&a, &b), "the file's time does");
    learn(&b, S304 DATE "ETag: \"400-6\"\r\n" CLOSE "\r\n");
    b.base = a.base;
    ok(!response_304_is_same(&a, &b), "each byte does");
}

/* The reply to a request for an answer that has @a u, as text; "decline", or
 * "ask". */
static const char *reply(const char *head, unsigned flags,
                         const response_304 *u, const char *ask, int64_t ms)
{
    static char buf[RESPONSE_HEAD + RESPONSE_EXTRA], mine[RESPONSE_HEAD];
    response_connection conn = {0, 1, 100, 5000000, 0};
    response_clock clock = {.now = ms};
    response_reply r;
    response a;
    request req;
    int rc;

    response_clock_set(&clock, NOW);
    if (response_learn(&a, head, strlen(head),
                       flags & RESPONSE_ENCODED ? -1 : 1024, flags, mine,
                       &error)
        || request_recognise(ask, strlen(ask), NULL, &req) != REQUEST_MINE) {
        return error;
    }
    if (u) {
        a.base = u->base;
    }
    else {
        a.base.known = 1;
        a.base.modified = NOW - 2977;
        if (flags & RESPONSE_ENCODED) {
            memcpy(a.base.tag, "\"400-5\"", 7);
            a.base.tag_len = 7;
        }
    }
    if (u && !response_may_have(&a, u)) {
        return "not of it";
    }
    a.unchanged = u;
    rc = response_make(&a, &req, ask, &clock, &conn, buf, sizeof(buf), &r);
    if (rc) {
        return rc == RESPONSE_ASK_304 ? "ask" : "decline";
    }
    buf[r.head_len] = '\0';
    return buf;
}

static void test_replies(void)
{
    const unsigned gzip = RESPONSE_ENCODED;
    const char *yes = ASK("If-None-Match: \"400-5\"\r\n");
    const char *head = "HEAD / HTTP/1.1\r\nHost: a\r\n"
                       "If-None-Match: \"400-5\"\r\n\r\n";
    response_304 u;

    is_str(reply(GZIP, gzip, NULL, yes, 0), "ask", "it is asked for");
    is_str(reply(GZIP, gzip, NULL, head, 0), "decline", "by a GET");
    kept(&u, S304 DATE ETAG KEEP "\r\n", "\"400-5\"", NOW - 2977);
    is_str(reply(GZIP, gzip, &u, yes, 0), S304 DATE ETAG "\r\n",
           "and repeated");
    is_str(reply(GZIP, gzip, &u, head, 0), S304 DATE ETAG "\r\n",
           "to HEAD too");
    is_str(reply(GZIP, gzip, &u,
                 ASK("If-None-Match: *\r\nConnection: close\r\n"), 0),
           S304 DATE ETAG CLOSE "\r\n", "with its connection lines");
    is_str(reply(GZIP, gzip, &u, yes, 999), S304 DATE ETAG "\r\n", "for long");
    is_str(reply(GZIP, gzip, &u, yes, 1000), "ask", "but no longer");
    ok(!strncmp(
           reply(GZIP, gzip, &u, ASK("If-None-Match: \"400-5-gzip\"\r\n"), 0),
           "HTTP/1.1 200", 12),
       "the tag that was sent is not the one");
    is_str(reply(PLAIN, RESPONSE_PLAIN, NULL, yes, 0), "decline",
           "without a 304 the validators are httpd's");
    is_str(reply(PLAIN, RESPONSE_PLAIN, NULL, ASK("If-None-Match: *\r\n"), 0),
           "ask", "they are met: it is asked for");
    is_str(reply(PLAIN, RESPONSE_PLAIN, &u, yes, 0), S304 DATE ETAG "\r\n",
           "the file's tag, not the one that was sent");
    is_str(
        reply(PLAIN, RESPONSE_PLAIN, &u, ASK("If-None-Match: \"mine\"\r\n"), 0),
        PLAIN, "which means the whole");
    is_str(reply(PLAIN, RESPONSE_PLAIN, &u,
                 ASK("If-None-Match: *\r\nRange: bytes=0-1\r\n"), 0),
           "decline", "ranges are httpd's");
    is_str(reply(PLAIN, RESPONSE_PLAIN, &u,
                 ASK("If-Modified-Since: Sun, 06 Nov 1994 08:00:00 GMT\r\n"),
                 0),
           S304 DATE ETAG "\r\n", "the file's time, though none was sent");
    is_str(reply("HTTP/1.1 200 OK\r\n" DATE "Content-Length: 1024\r\n\r\n", 0,
                 &u, ASK(""), 0),
           "not of it", "one that can be derived needs none");
    kept(&u,
         S304 DATE "Upgrade: h2c\r\nConnection: Upgrade, close\r\n" ETAG "\r\n",
         "\"400-5\"", NOW - 2977);
    is_str(reply(GZIP, gzip, &u,
                 ASK("If-None-Match: *\r\nConnection: close\r\n"), 0),
           S304 DATE "Upgrade: h2c\r\nConnection: Upgrade, close\r\n" ETAG
                     "\r\n",
           "a protocol is announced in its place");
}

/* Where mod_expires has a say. */
static void test_clocked(void)
{
    static const char *const age = "Cache-Control: max-age=60\r\n";
    char one[512], two[512], bytes[512];
    response_304 a, b;

    snprintf(one, sizeof(one),
             S304 DATE "%sExpires: Sun, 06 Nov 1994 08:50:37 "
                       "GMT\r\n\r\n",
             age);
    snprintf(two, sizeof(two),
             S304 LATER "%sExpires: Sun, 06 Nov 1994 08:50:38 "
                        "GMT\r\n\r\n",
             age);
    clocked = 1;
    learn(&b, one);
    response_304_copy(&a, &b, bytes);
    ok(learn(&b, two) && response_304_is_same(&a, &b)
           && response_304_is_later(&a, &b),
       "Expires moves with Date");
    ok(learn(&b, one) && !response_304_is_later(&a, &b),
       "one second proves nothing");
    two[strlen(S304) + 6 + 24] = '9';
    ok(learn(&b, two) && !response_304_is_same(&a, &b), "or moves otherwise");
    kept(&a, one, "\"400-5\"", NOW - 2977);
    ok(!strcmp(reply(PLAIN, RESPONSE_PLAIN, &a, ASK(""), 0), "not of it"),
       "the 200 has one too, or it is not its 304");
    ok(!learn(&b, S304 DATE "Expires: Sun, 06 Nov 1994 08:49:36 GMT\r\n\r\n"),
       "not learned: Expires before Date");
    snprintf(one, sizeof(one), S304 DATE "%s\r\n", age);
    snprintf(two, sizeof(two), S304 LATER "%s\r\n", age);
    learn(&b, one);
    response_304_copy(&a, &b, bytes);
    ok(learn(&b, two) && response_304_is_same(&a, &b)
           && !response_304_is_later(&a, &b),
       "without it one second is too near");
    clocked = 0;
}

static void test_long(void)
{
    static char head[RESPONSE_HEAD + 1];
    response_304 u;
    response a;
    size_t n = (size_t)sprintf(head, "%sX: ", S304 DATE);

    memset(head + n, 'x', 300);
    strcpy(head + n + 300, "\r\n\r\n");
    kept(&u, head, "", 1);
    response_learn(&a, PLAIN, strlen(PLAIN), 1024, RESPONSE_PLAIN, copy,
                   &error);
    a.base = u.base;
    ok(!response_may_have(&a, &u), "too long for the room of its 200");
}

static void test_base(void)
{
    response_base base = {
        .modified = NOW - 2977, .known = 1, .tag_len = 3, .tag = "\"a\""};
    static const struct {
        const char *ask;
        int met;
    } t[] = {
        {ASK("If-None-Match: \"a\"\r\n"), 1},
        {ASK("If-None-Match: \"b\"\r\n"), 0},
        {ASK("If-None-Match: \"b\", \"a\"\r\n"), 1},
        {ASK("If-None-Match: \"a\"\r\nRange: bytes=0-1\r\n"), 0},
        {ASK("If-Modified-Since: Sun, 06 Nov 1994 08:00:00 GMT\r\n"), 1},
        {ASK("If-Modified-Since: Sun, 06 Nov 1994 07:59:59 GMT\r\n"), 0},
        {ASK(""), 0},
    };
    request req;
    size_t i;

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        request_recognise(t[i].ask, strlen(t[i].ask), NULL, &req);
        ok(response_base_is_met(&base, &req, t[i].ask, NOW) == t[i].met,
           "request %d meets it, or does not", (int)i);
    }
    base.known = 0;
    request_recognise(t[0].ask, strlen(t[0].ask), NULL, &req);
    is_int(response_base_is_met(&base, &req, t[0].ask, NOW), 0,
           "not what is not known");
}

int main(void)
{
    test_learned();
    test_refused();
    test_agreement();
    test_replies();
    test_clocked();
    test_long();
    test_base();
    return done();
}
