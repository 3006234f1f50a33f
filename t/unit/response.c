/* SPDX-License-Identifier: Apache-2.0 */
/* response: what is learned and what is not; replies of which httpd's bytes
 * are known. (t/static-answer.t compares with httpd itself.) */
#include "http/response.h"

#include "tap.h"

#include <stdlib.h>

#define OK200 "HTTP/1.1 200 OK\r\n"
#define DATE "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
#define NOW 784111777
#define MODIFIED "Last-Modified: Sun, 06 Nov 1994 08:00:00 GMT\r\n"
#define ETAG "ETag: \"400-5\"\r\n"
#define BYTES "Accept-Ranges: bytes\r\n"
#define LENGTH "Content-Length: 1024\r\n"
#define TYPE "Content-Type: text/plain\r\n"
#define PLAIN OK200 DATE MODIFIED ETAG BYTES LENGTH
#define KEEP "Keep-Alive: timeout=5, max=100\r\nConnection: Keep-Alive\r\n"
#define CLOSE "Connection: close\r\n"

static char copy[RESPONSE_HEAD + 1];
static const char *error;

static int learn_flags(response *a, const char *head, unsigned flags)
{
    return response_learn(a, head, strlen(head), 1024, flags, copy, &error)
           == 0;
}

static int learn(const char *head)
{
    response a;

    return learn_flags(&a, head, 0);
}

static void learned(void)
{
    static const struct {
        const char *head, *what;
    } t[] = {
        {PLAIN TYPE "\r\n", "without connection lines"},
        {PLAIN KEEP TYPE "\r\n", "with keep-alive"},
        {PLAIN CLOSE TYPE "\r\n", "with close"},
        {PLAIN "\r\n", "without a type"},
        {PLAIN CLOSE "\r\n", "close without a type"},
        {PLAIN TYPE "Content-Encoding: x\r\nContent-Language: y\r\n\r\n",
         "all content fields"},
        {PLAIN CLOSE "Content-Language: y\r\n\r\n", "only a language"},
        {OK200 DATE LENGTH "\r\n", "no validators"},
        {OK200 DATE "X: a\r\nX: b\r\n" LENGTH "\r\n", "unknown fields twice"},
        {OK200 DATE "X: \r\n" LENGTH "\r\n", "an empty field"},
    };
    response a;
    size_t i;

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        ok(learn(t[i].head), "learned: %s", t[i].what);
    }
    learn_flags(&a, PLAIN KEEP TYPE "\r\n", 0);
    ok(!memcmp(copy, PLAIN TYPE "\r\n", a.head_len),
       "connection lines are gone");
    ok(!memcmp(a.head + a.slot, TYPE, strlen(TYPE)), "their place is");
    ok(!memcmp(a.head + a.etag, "\"400-5\"", a.etag_len), "the ETag is found");
    is_int(a.modified, NOW - 2977, "Last-Modified too");
    is_int(a.head_len, (long)strlen(PLAIN TYPE "\r\n"), "length");
}

static void not_learned(void)
{
    static const struct {
        const char *head, *why;
    } t[] = {
        {"HTTP/1.0 200 OK\r\n" DATE LENGTH "\r\n", "force-response-1.0"},
        {"HTTP/1.1 404 Not Found\r\n" DATE LENGTH "\r\n", "another status"},
        {OK200 LENGTH DATE "\r\n", "Date not first"},
        {OK200 "Date: Sun, 06 Nov 1994 08:49:61 GMT\r\n" LENGTH "\r\n",
         "no date"},
        {OK200 DATE "\r\n", "no length"},
        {OK200 DATE "Content-Length: 1023\r\n\r\n", "another length"},
        {OK200 DATE "Content-Length: 01024\r\n\r\n", "odd length"},
        {PLAIN LENGTH "\r\n", "the length twice"},
        {PLAIN ETAG "\r\n", "ETag twice"},
        {PLAIN DATE "\r\n", "Date twice"},
        {PLAIN, "no end"},
        {PLAIN "\r\nx", "more than a head"},
        {PLAIN "X: a\n\r\n", "bare LF"},
        {PLAIN "X: a\rb\r\n\r\n", "bare CR"},
        {PLAIN "X: \xe4\r\n\r\n", "above ASCII"},
        {PLAIN "X\r\n\r\n", "no colon"},
        {PLAIN "X:a\r\n\r\n", "no space"},
        {PLAIN ": a\r\n\r\n", "no name"},
        {PLAIN "Set-Cookie: a=b\r\n\r\n", "R7: a cookie"},
        {PLAIN "Upgrade: h2c\r\nConnection: Upgrade\r\n\r\n",
         "an announcement behind the length"},
        {OK200 DATE "Connection: Upgrade, x\r\n" LENGTH "\r\n",
         "an announcement of something else"},
        {OK200 DATE "Connection: Upgrade\r\n" LENGTH CLOSE "\r\n",
         "an announcement and a Connection of its own"},
        {OK200 DATE "Connection: Upgrade\r\n" LENGTH
                    "Keep-Alive: timeout=5\r\nX: a\r\n\r\n",
         "an announcement, and a field after Keep-Alive"},
        {PLAIN "Age: 1\r\n\r\n", "R7: Age"},
        {PLAIN "WWW-Authenticate: Basic\r\n\r\n", "R7: a challenge"},
        {PLAIN "Vary: *\r\n\r\n", "R7: Vary is *"},
        {PLAIN "Transfer-Encoding: chunked\r\n\r\n", "a coding"},
        {PLAIN "Content-Range: bytes 0-1/2\r\n\r\n", "a range"},
        {PLAIN "Content-MD5: x\r\n\r\n", "a digest of the whole"},
        {PLAIN "Keep-Alive: timeout=5\r\n\r\n", "half the connection lines"},
        {PLAIN "Keep-Alive: timeout=5\r\n" TYPE "\r\n", "half of them"},
        {PLAIN "Connection: Keep-Alive\r\n\r\n", "the other half"},
        {PLAIN KEEP "X: a\r\n\r\n", "a field after them"},
        {PLAIN TYPE "X: a\r\n\r\n", "a field after the type"},
        {PLAIN TYPE CLOSE "\r\n", "connection lines after the type"},
        {PLAIN "Content-Language: a\r\nContent-Encoding: b\r\n\r\n",
         "content fields in another order"},
        {OK200 DATE "Last-Modified: yesterday\r\n" LENGTH "\r\n",
         "Last-Modified is no date"},
        {OK200 DATE "Last-Modified: Sun, 06 Nov 1994 08:49:36 GMT\r\n" LENGTH
                    "\r\n",
         "the ETag may still be weak (pitfall 20)"},
        {OK200 DATE "Last-Modified: Sun, 06 Nov 1994 09:49:36 GMT\r\n" LENGTH
                    "\r\n",
         "from the future (pitfall 20)"},
    };
    char big[RESPONSE_HEAD + 64];
    size_t i, n;

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        ok(!learn(t[i].head) && error, "not learned: %s", t[i].why);
    }
    n = (size_t)sprintf(big, "%sX: ", PLAIN);
    memset(big + n, 'x', RESPONSE_HEAD - n);
    memcpy(big + RESPONSE_HEAD - 4, "\r\n\r\n", 5);
    ok(learn(big), "learned: the longest head");
    memcpy(big + RESPONSE_HEAD - 3, "\r\n\r\n", 5);
    big[RESPONSE_HEAD - 4] = 'x';
    ok(!learn(big), "not learned: a longer one");
    for (n = 0; n < strlen(PLAIN KEEP TYPE "\r\n"); n++) {
        response a;

        if (!response_learn(&a, PLAIN KEEP TYPE "\r\n", n, 1024, 0, copy,
                            &error)) {
            break;
        }
    }
    is_int((long)n, (long)strlen(PLAIN KEEP TYPE "\r\n"), "nor a part of one");
}

static int same(const char *one, const char *two)
{
    static char other[RESPONSE_HEAD];
    response a, b, c;

    if (!learn_flags(&a, one, 0)) {
        return -1;
    }
    response_copy(&c, &a, other);
    return learn_flags(&b, two, 0) ? response_is_same(&c, &b) : -1;
}

static void agreement(void)
{
    is_int(same(PLAIN KEEP TYPE "\r\n", PLAIN CLOSE TYPE "\r\n"), 1,
           "connection lines do not count");
    is_int(same(PLAIN TYPE "\r\n",
                OK200 "Date: Sun, 06 Nov 1994 08:49:38 GMT\r\n" MODIFIED ETAG
                    BYTES LENGTH TYPE "\r\n"),
           1, "nor does Date");
    is_int(same(PLAIN TYPE "\r\n", PLAIN "\r\n"), 0, "the type does");
    is_int(same(PLAIN "Expires: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n",
                PLAIN "Expires: Sun, 06 Nov 1994 08:49:38 GMT\r\n\r\n"),
           0, "and a moving Expires");
    is_int(same(PLAIN "Cache-Control: max-age=10\r\n\r\n",
                PLAIN "Cache-Control: max-age=11\r\n\r\n"),
           0, "and a moving max-age (pitfall 22)");
}

static void fields(void)
{
    is_int(response_field_use("x-frame-options"), RESPONSE_FIELD_FREE, "free");
    is_int(response_field_use("cache-control"), RESPONSE_FIELD_FREE, "free");
    is_int(response_field_use("VARY"), RESPONSE_FIELD_FREE, "Vary is");
    is_int(response_field_use("etag"), RESPONSE_FIELD_PLAIN, "ETag");
    is_int(response_field_use("Last-modified"), RESPONSE_FIELD_PLAIN, "plain");
    is_int(response_field_use("connection"), RESPONSE_FIELD_NEVER,
           "Connection");
    is_int(response_field_use("Content-Type"), RESPONSE_FIELD_NEVER,
           "its type");
    is_int(response_field_use("Set-Cookie"), RESPONSE_FIELD_NEVER, "cookies");
}

/* The reply to the fields, as text, "decline" or "not mine". */
static const char *reply(const char *head, unsigned flags, const char *ask,
                         int64_t now, int keepalives)
{
    static char buf[RESPONSE_HEAD + RESPONSE_EXTRA];
    response_connection conn = {keepalives, 1, 100, 5000000, 0};
    response_clock clock;
    response_reply r;
    response a;
    request req;

    response_clock_set(&clock, now);
    if (!learn_flags(&a, head, flags)) {
        return error;
    }
    if (request_recognise(ask, strlen(ask), NULL, &req) != REQUEST_MINE) {
        return "not mine";
    }
    if (response_make(&a, &req, ask, &clock, &conn, buf, sizeof(buf), &r)) {
        return "decline";
    }
    buf[r.head_len] = '\0';
    return buf;
}

#define ASK(fields) "GET / HTTP/1.1\r\nHost: a\r\n" fields "\r\n"
#define THE (PLAIN TYPE "\r\n")
#define TAIL MODIFIED ETAG BYTES

static void replies(void)
{
    is_str(reply(THE, 0, ASK(""), NOW, 0), THE, "200");
    is_str(reply(THE, 0, ASK("Connection: keep-alive\r\n"), NOW, 0),
           PLAIN KEEP TYPE "\r\n", "keep-alive");
    is_str(reply(THE, 0, ASK(""), NOW, 100), PLAIN CLOSE TYPE "\r\n",
           "the last of a connection");
    is_str(
        reply(THE, 0, ASK("If-None-Match: *\r\nConnection: close\r\n"), NOW, 0),
        "HTTP/1.1 304 Not Modified\r\n" DATE TAIL CLOSE "\r\n", "304");
    is_str(reply(PLAIN "Vary: X\r\nCache-Control: y\r\nExpires: z\r\n\r\n", 0,
                 ASK("If-None-Match: *\r\n"), NOW, 0),
           "HTTP/1.1 304 Not Modified\r\n" DATE TAIL
           "Vary: X\r\nCache-Control: y\r\nExpires: z\r\n\r\n",
           "5.24: a 304 keeps ETag, Vary, Cache-Control, Expires");
    is_str(reply(THE, 0, ASK("Range: bytes=-3\r\n"), NOW, 0),
           "HTTP/1.1 206 Partial Content\r\n" DATE TAIL
           "Content-Length: 3\r\nContent-Range: bytes 1021-1023/1024\r\n" TYPE
           "\r\n",
           "206");
}

#define IS(status, fields, now, name)                                          \
    ok(!strncmp(reply(THE, 0, ASK(fields), now, 0), status, strlen(status)),   \
       "%s", name)
#define S200 "HTTP/1.1 200"
#define S206 "HTTP/1.1 206"
#define S304 "HTTP/1.1 304"
#define SINCE "If-Modified-Since: Sun, 06 Nov 1994 08:00:00 GMT\r\n"
#define RANGE "Range: bytes=0-1\r\n"

#define EMPTY                                                                  \
    (OK200 DATE MODIFIED ETAG BYTES "Content-Length: 0\r\n" TYPE "\r\n")

/* Of a file of no bytes. */
static const char *empty_reply(const char *ask)
{
    static char buf[RESPONSE_HEAD + RESPONSE_EXTRA];
    response_connection conn = {0, 1, 100, 5000000, 0};
    response_clock clock;
    response_reply r;
    response a;
    request req;

    response_clock_set(&clock, NOW);
    if (response_learn(&a, EMPTY, strlen(EMPTY), 0, 0, copy, &error)
        || request_recognise(ask, strlen(ask), NULL, &req) != REQUEST_MINE
        || response_make(&a, &req, ask, &clock, &conn, buf, sizeof(buf), &r)) {
        return "decline";
    }
    buf[r.head_len] = '\0';
    return buf;
}

static void empty_file(void)
{
    is_str(empty_reply(ASK("")), EMPTY, "5.18: an empty file");
    is_str(empty_reply(ASK("Range: bytes=0-0\r\n")), EMPTY,
           "5.18: has no ranges");
    is_str(empty_reply(ASK("Range: bytes=0-\r\n")), EMPTY,
           "5.18: nor an open one");
    is_str(empty_reply(ASK("Range: bytes=-5\r\n")), EMPTY, "5.18: nor an end");
    is_str(empty_reply("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"),
           OK200 DATE MODIFIED ETAG BYTES TYPE "\r\n",
           "HEAD of it loses the length, as in httpd");
}

#define EPOCH "Thu, 01 Jan 1970 00:00:00 GMT\r\n"
#define OF_EPOCH (OK200 DATE "Last-Modified: " EPOCH ETAG BYTES LENGTH "\r\n")

/* httpd's parser says 0 for what is no date. */
static void epoch(void)
{
    is_str(reply(OF_EPOCH, 0, ASK(""), NOW, 0), OF_EPOCH, "a file of 1970");
    is_str(reply(OF_EPOCH, 0, ASK("If-Modified-Since: " EPOCH), NOW, 0),
           "decline", "dates are httpd's");
    is_str(reply(OF_EPOCH, 0, ASK(SINCE), NOW, 0), "decline", "all of them");
    is_str(reply(OF_EPOCH, 0, ASK(RANGE "If-Range: " EPOCH), NOW, 0), "decline",
           "in If-Range too");
    IS("decline", "If-Modified-Since: " EPOCH, NOW, "1970 for other files");
    IS("decline", RANGE "If-Range: " EPOCH, NOW, "and in If-Range");
}

static void conditions(void)
{
    const int64_t fresh = NOW - 2977 + 59;

    IS("decline", "Range: bytes=99999999999999999999-\r\n", NOW,
       "5.14: overflow is declined");
    IS(S206, "Range: bytes=1023-1023\r\n", NOW, "5.15: the last byte");
    IS(S206, "Range: bytes=1023-9999\r\n", NOW, "5.15: the end is clamped");
    IS(S206, "Range: bytes=-9999\r\n", NOW, "5.16: a suffix too long");
    IS(S200, "Range: bytes=-0\r\n", NOW, "5.16: an empty suffix is ignored");
    IS("decline", "Range: bytes=0-1,3-4\r\n", NOW, "5.17: many ranges");
    IS("decline", "Range: bytes=1024-\r\n", NOW, "5.19: 416 is httpd's");
    IS(S206, RANGE "If-Range: \"400-5\"\r\n", NOW, "5.21: a strong validator");
    IS(S200, RANGE "If-Range: W/\"400-5\"\r\n", NOW, "5.21: a weak one");
    IS(S206, RANGE "If-Range: Sun, 06 Nov 1994 08:00:00 GMT\r\n", NOW,
       "5.21: an old date is strong");
    IS(S200, RANGE "If-Range: Sun, 06 Nov 1994 08:00:00 GMT\r\n", fresh,
       "5.21: a fresh one is weak");
    IS(S200, "If-None-Match: \"x\"\r\n" SINCE, NOW, "5.22: the tag decides");
    IS(S304, "If-None-Match: \"400-5\"\r\n" SINCE, NOW, "5.22: both agree");
    IS(S304, SINCE, NOW, "5.23: the second of the file");
    IS(S304, SINCE, fresh, "5.23: soon after it");
    IS(S206, SINCE RANGE, fresh, "but not with a range");
    IS(S304, SINCE RANGE, NOW, "later with a range");
    IS(S200, "If-Modified-Since: Sun, 06 Nov 1994 08:49:38 GMT\r\n", NOW,
       "a date of the future is not valid");
    IS("decline", SINCE, NOW - 2978, "a clock set back before the file");
    IS("decline", "", NOW - 2977 + 1, "or to when its ETag was weak");
    IS(S200, "", NOW - 2977 + 2, "but not later");
    IS("decline", "If-Modified-Since: yesterday\r\n", NOW, "odd dates");
    IS("decline", "If-None-Match: \"a\\\"b\"\r\n", NOW, "odd lists");
    IS(S304, "If-None-Match: \"x\", W/\"400-5\"\r\n", NOW, "weakly in a list");
    IS(S206, "If-None-Match: W/\"400-5\"\r\n" RANGE, NOW,
       "but not with a range");
    ok(!strncmp(reply(THE, 0, "HEAD / HTTP/1.0\r\n" RANGE "\r\n", NOW, 0), S206,
                12),
       "5.20: HEAD heeds Range, as stock httpd does");
    IS("not mine", "If-Match: *\r\n", NOW, "If-Match is httpd's");

    epoch();
    is_str(reply(THE, RESPONSE_PLAIN, ASK(RANGE), NOW, 0), "decline",
           "R7: ranges of a plain answer");
    is_str(reply(THE, RESPONSE_PLAIN, ASK(""), NOW, 0), THE, "not the rest");
    is_str(reply(PLAIN "Vary: A\r\n\r\n", RESPONSE_FILTERED,
                 ASK("If-None-Match: *\r\n"), NOW, 0),
           "decline", "a filter's Vary is not in its 304");
    is_str(reply(OK200 DATE LENGTH "\r\n", 0, ASK(SINCE), NOW, 0), "decline",
           "no Last-Modified: httpd knows the file's");
    is_str(reply(OK200 DATE LENGTH "\r\n", 0, ASK(RANGE), NOW, 0), "decline",
           "no Accept-Ranges, no range");
}

#define LATER "Date: Sun, 06 Nov 1994 08:49:38 GMT\r\n"
#define AGE "Cache-Control: max-age=60\r\n"
#define EXPIRES "Expires: Sun, 06 Nov 1994 08:50:37 GMT\r\n"
#define EXPIRES_LATER "Expires: Sun, 06 Nov 1994 08:50:38 GMT\r\n"
#define MOVES (PLAIN AGE EXPIRES TYPE "\r\n")

/* Do two clocked answers agree, and far enough apart? */
static int moves(const char *one, const char *two)
{
    static char other[RESPONSE_HEAD];
    response a, b;

    return learn_flags(&a, one, RESPONSE_CLOCKED)
           && (response_copy(&b, &a, other),
               learn_flags(&a, two, RESPONSE_CLOCKED))
           && response_is_same(&a, &b) && response_is_later(&a, &b);
}

static void clocked(void)
{
    const unsigned f = RESPONSE_CLOCKED;

    ok(moves(MOVES,
             OK200 LATER MODIFIED ETAG BYTES LENGTH AGE EXPIRES_LATER TYPE
             "\r\n"),
       "Expires moves with Date");
    ok(!moves(MOVES, MOVES), "one second proves nothing");
    ok(!moves(MOVES,
              OK200 LATER MODIFIED ETAG BYTES LENGTH AGE EXPIRES TYPE "\r\n"),
       "one that stays, or moves otherwise, does not agree");
    ok(!moves(MOVES, OK200 LATER MODIFIED ETAG BYTES LENGTH
              "Cache-Control: max-age=59\r\n" EXPIRES_LATER TYPE "\r\n"),
       "nor a moving max-age");
    ok(!moves(PLAIN AGE "\r\n",
              OK200 LATER MODIFIED ETAG BYTES LENGTH AGE "\r\n"),
       "without Expires one second is too near");
    ok(moves(PLAIN AGE "\r\n",
             OK200 "Date: Sun, 06 Nov 1994 08:49:39 GMT\r\n" MODIFIED ETAG BYTES
                 LENGTH AGE "\r\n"),
       "two are not");
    is_str(reply(MOVES, f, ASK(""), NOW + 1, 0),
           OK200 LATER MODIFIED ETAG BYTES LENGTH AGE EXPIRES_LATER TYPE "\r\n",
           "200 a second later");
    is_str(reply(MOVES, f, ASK("If-None-Match: *\r\nConnection: close\r\n"),
                 NOW + 1, 0),
           "HTTP/1.1 304 Not Modified\r\n" LATER TAIL AGE EXPIRES_LATER CLOSE
           "\r\n",
           "304");
    is_str(reply(MOVES, f, ASK("Range: bytes=-3\r\n"), NOW + 1, 0),
           "HTTP/1.1 206 Partial Content\r\n" LATER TAIL
           "Content-Length: 3\r\n" AGE EXPIRES_LATER
           "Content-Range: bytes 1021-1023/1024\r\n" TYPE "\r\n",
           "206");
    is_str(reply(OK200 DATE
                 "Upgrade: h2c\r\nConnection: Upgrade\r\n" MODIFIED ETAG BYTES
                     LENGTH AGE EXPIRES TYPE "\r\n",
                 f, ASK("Connection: close\r\nRange: bytes=1000-\r\n"), NOW + 1,
                 0),
           "HTTP/1.1 206 Partial Content\r\n" LATER
           "Upgrade: h2c\r\nConnection: Upgrade, close\r\n" TAIL
           "Content-Length: 24\r\n" AGE EXPIRES_LATER
           "Content-Range: bytes 1000-1023/1024\r\n" TYPE "\r\n",
           "206 that announces a protocol");
    is_str(reply(PLAIN "Expires: 0\r\n\r\n", f, ASK(""), NOW + 1, 0),
           OK200 LATER MODIFIED ETAG BYTES LENGTH "Expires: 0\r\n\r\n",
           "what is no date stays");
    is_str(reply(PLAIN "Expires: Sun, 06 Nov 1994 08:49:36 GMT\r\n\r\n", f,
                 ASK(""), NOW, 0),
           "Expires is before Date", "the past is not learned");
    is_str(reply(PLAIN EXPIRES EXPIRES "\r\n", f, ASK(""), NOW, 0),
           "a field is there twice", "nor two of them");
    is_str(reply(OK200 DATE EXPIRES LENGTH "\r\n", f, ASK(""), NOW, 0),
           "Expires stands before Content-Length", "nor in another place");
    is_str(reply(PLAIN EXPIRES "\r\n", 0, ASK(""), NOW + 1, 0),
           OK200 LATER MODIFIED ETAG BYTES LENGTH EXPIRES "\r\n",
           "without mod_expires it is a field like others");
}

static int verify(const char *learned_head, const char *ask, int keepalives,
                  const char *sent)
{
    response_connection conn = {keepalives, 1, 100, 5000000, 0};
    response a;
    request req;

    return learn_flags(&a, learned_head, 0)
           && request_recognise(ask, strlen(ask), NULL, &req) == REQUEST_MINE
           && response_is_exact(&a, &req, ask, &conn, sent, strlen(sent));
}

static void verified(void)
{
    const char *ask = ASK("Connection: keep-alive\r\n");
    const char *keep = PLAIN KEEP TYPE "\r\n";
    const char *close = PLAIN CLOSE TYPE "\r\n";

    ok(verify(keep, ask, 0, keep), "its own answer comes out");
    ok(!verify(keep, ask, 1, keep), "not with another max=");
    ok(!verify(close, ask, 0, close),
       "nokeepalive of a BrowserMatch is found out (pitfall 21)");
    ok(!verify(keep, ask, 0, ""), "nothing is no answer");
}

static void small_buffer(void)
{
    response_connection conn = {0, 1, 100, 5000000, 0};
    char buf[2 * RESPONSE_HEAD];
    response_clock clock;
    response_reply r;
    response a;
    request req;

    response_clock_set(&clock, NOW);
    learn_flags(&a, THE, 0);
    request_recognise(ASK(""), strlen(ASK("")), NULL, &req);
    ok(response_make(&a, &req, ASK(""), &clock, &conn, buf,
                     a.head_len + RESPONSE_EXTRA - 1u, &r),
       "a small buffer: decline");
    ok(!response_make(&a, &req, ASK(""), &clock, &conn, buf,
                      a.head_len + RESPONSE_EXTRA, &r),
       "the promised size suffices");
    is_int(r.keepalives, 1, "keepalives");
    conn.keepalives = 100;
    response_make(&a, &req, ASK(""), &clock, &conn, buf, sizeof(buf), &r);
    ok(!r.keepalive && r.keepalives == 101, "the last one counts too");
    is_int((long)r.body_len, 1024, "the body's length");
}

int main(void)
{
    learned();
    not_learned();
    agreement();
    fields();
    replies();
    conditions();
    empty_file();
    clocked();
    verified();
    small_buffer();
    return done();
}
