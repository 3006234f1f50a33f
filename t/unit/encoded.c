/* SPDX-License-Identifier: Apache-2.0 */
/* response of a body that a filter made: which heads are learned, and what is
 * made of them. (t/learn-compressed.t compares with httpd itself.) */
#include "http/response.h"

#include "tap.h"

#include <string.h>

#define START                                                                  \
    "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"               \
    "Last-Modified: Sun, 06 Nov 1994 08:00:00 GMT\r\n"
#define NOW 784111777
#define TAG "ETag: \"400-5-gzip\"\r\n"
#define GZIP "Vary: Accept-Encoding\r\nContent-Encoding: gzip\r\n"
#define KEEP "Keep-Alive: timeout=5, max=100\r\nConnection: Keep-Alive\r\n"
#define CLOSE "Connection: close\r\n"
#define CHUNKED "Transfer-Encoding: chunked\r\n"
#define TYPE "Content-Type: text/html\r\n"
#define BODY "5\r\nhello\r\n0\r\n\r\n"
#define FLAGS RESPONSE_ENCODED

static char copy[RESPONSE_HEAD];
static response a;

static const char *learn(const char *head, unsigned flags)
{
    const char *error;

    return response_learn(&a, head, strlen(head), -1, flags, copy, &error)
               ? error
               : NULL;
}

static int set(const char *body)
{
    const uint64_t digest[2] = {1, 2};

    a.base.known = 1;
    a.base.tag_len = 7;
    memcpy(a.base.tag, "\"400-5\"", 7);
    return response_set_body(&a, body, strlen(body), digest);
}

/* The reply to a request that arrives when nothing was answered before. */
static const char *ask(const char *text, response_reply *reply)
{
    static char buf[RESPONSE_HEAD + RESPONSE_EXTRA];
    response_connection c = {0, 1, 100, 5000000, 0};
    response_clock clock;
    request req;

    response_clock_set(&clock, NOW);
    if (request_recognise(text, strlen(text), NULL, &req) != REQUEST_MINE
        || response_make(&a, &req, text, &clock, &c, buf, sizeof(buf), reply)) {
        return "declined";
    }
    buf[reply->head_len] = '\0';
    return buf;
}

static void heads(void)
{
    static const struct {
        const char *head;
        unsigned flags;
        int learned, framing;
        const char *what;
    } t[] = {
        {START TAG GZIP CHUNKED TYPE "\r\n", FLAGS, 1, RESPONSE_FRAMING_CHUNKED,
         "chunks"},
        {START TAG GZIP KEEP CHUNKED TYPE "\r\n", FLAGS, 1,
         RESPONSE_FRAMING_CHUNKED, "chunks, kept"},
        {START TAG GZIP CLOSE CHUNKED "\r\n", FLAGS, 1,
         RESPONSE_FRAMING_CHUNKED, "chunks, closed, no type"},
        {START TAG GZIP "Content-Length: 5\r\n" TYPE "\r\n", FLAGS, 1,
         RESPONSE_FRAMING_LENGTH, "a length"},
        {START TAG GZIP CLOSE TYPE "\r\n", FLAGS, 1, RESPONSE_FRAMING_CLOSE,
         "neither"},
        {START "ETag: \"400-5-br\"\r\nContent-Encoding: br\r\n" TYPE "\r\n",
         FLAGS, 1, RESPONSE_FRAMING_CLOSE, "brotli"},
        {START TAG CHUNKED TYPE "\r\n", FLAGS, 0, 0, "no coding"},
        {START TAG GZIP "Content-Length: 5\r\n" CHUNKED "\r\n", FLAGS, 0, 0,
         "length and chunks"},
        {START TAG GZIP CHUNKED KEEP TYPE "\r\n", FLAGS, 0, 0,
         "chunks before the connection lines"},
        {START TAG GZIP TYPE CHUNKED "\r\n", FLAGS, 0, 0,
         "chunks behind the type"},
        {START TAG TYPE "Content-Encoding: gzip\r\n\r\n", FLAGS, 0, 0,
         "the coding behind the type"},
        {START TAG GZIP "Transfer-Encoding: gzip\r\n\r\n", FLAGS, 0, 0,
         "another coding of transfer"},
        {START TAG GZIP "Content-Length: 05\r\n\r\n", FLAGS, 0, 0,
         "an odd length"},
        {START TAG GZIP CHUNKED "\r\n", 0, 0, 0, "chunks, not encoded"},
    };
    size_t i;

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        int learned = !learn(t[i].head, t[i].flags);

        ok(learned == t[i].learned && (!learned || a.framing == t[i].framing),
           "%s: %s", t[i].learned ? "learned" : "not learned", t[i].what);
    }
}

static void bodies(void)
{
    char other[RESPONSE_HEAD];
    response b;

    learn(START TAG GZIP CHUNKED TYPE "\r\n", FLAGS);
    ok(set("hello"), "chunks that are none");
    ok(set("0\r\n\r\n"), "nothing in them");
    ok(!set(BODY), "chunks");
    is_int(a.size, (long)strlen(BODY), "all of it is sent");
    is_int(a.content, 5, "what is in them counts");
    response_copy(&b, &a, other);
    ok(response_is_same(&a, &b), "the same");
    b.digest[1]++;
    ok(!response_is_same(&a, &b), "another digest is another answer");
    ok(response_is_alike(&a, &b), "but for the body it is the same");
    other[b.head_len - 5] ^= 1;
    ok(!response_is_alike(&a, &b), "unless another byte differs");
    learn(START TAG GZIP "Content-Length: 5\r\n" TYPE "\r\n", FLAGS);
    ok(set("hell"), "not as long as the head says");
    ok(!set("hello") && a.size == 5 && a.content == 5, "as long");
    response_copy(&b, &a, other);
    learn(START TAG GZIP "Content-Length: 10\r\n" TYPE "\r\n", FLAGS);
    ok(!set("hellohello") && response_is_alike(&a, &b), "nor does the length");
    learn(START TAG "X: a\r\n" GZIP "Content-Length: 10\r\n" TYPE "\r\n",
          FLAGS);
    ok(!set("hellohello") && !response_is_alike(&a, &b), "but a line does");
    learn(START TAG GZIP CHUNKED TYPE "\r\n", FLAGS);
    ok(!set(BODY) && !response_is_alike(&a, &b), "and so do chunks");
    learn(START TAG GZIP CLOSE TYPE "\r\n", FLAGS);
    ok(set(""), "nothing");
    ok(!set("hello") && a.size == 5 && a.content == 5, "up to the end");
    a.framing = RESPONSE_FRAMING_FILE;
    ok(set("hello"), "a file has none");
}

#define GET "GET /a HTTP/1.1\r\nHost: a\r\n"
#define HEAD "HEAD /a HTTP/1.1\r\nHost: a\r\n"

static void replies(void)
{
    response_reply r;

    learn(START TAG GZIP KEEP CHUNKED TYPE "\r\n", FLAGS);
    set(BODY);
    is_str(ask(GET "\r\n", &r), START TAG GZIP CHUNKED TYPE "\r\n", "GET");
    ok(r.status == 200 && r.keepalive && r.body_off == 0
           && r.body_len == (int)strlen(BODY) && r.content == 5,
       "its body");
    is_str(ask(HEAD "Connection: keep-alive\r\n\r\n", &r),
           START TAG GZIP KEEP TYPE "\r\n", "HEAD has no Transfer-Encoding");
    ok(r.body_len == 0 && r.content == 0, "nor a body");
    is_str(ask(GET "Connection: close\r\n\r\n", &r),
           START TAG GZIP CLOSE CHUNKED TYPE "\r\n", "closing");
    is_str(ask(GET "If-None-Match: \"400-5-gzip\"\r\n\r\n", &r),
           START TAG GZIP CHUNKED TYPE "\r\n",
           "the tag that was sent is none that is asked for");
    is_str(ask(GET "If-None-Match: \"400-5\"\r\n\r\n", &r), "declined",
           "a 304 is httpd's");
    is_str(ask(GET "If-None-Match: *\r\n\r\n", &r), "declined", "any");
    is_str(
        ask(GET "If-Modified-Since: Sun, 06 Nov 1994 08:00:00 GMT\r\n\r\n", &r),
        "declined", "by date");
    is_str(
        ask(GET "If-Modified-Since: Sun, 06 Nov 1994 07:59:59 GMT\r\n\r\n", &r),
        START TAG GZIP CHUNKED TYPE "\r\n", "an older date");
    is_str(ask(GET "Range: bytes=0-1\r\n\r\n", &r), "declined", "a range");
    is_str(ask(GET "Range: lines=0-1\r\n\r\n", &r), "declined", "any range");
    learn(START TAG GZIP CHUNKED TYPE "\r\n", FLAGS | RESPONSE_PLAIN);
    set(BODY);
    is_str(ask(GET "If-None-Match: \"x\"\r\n\r\n", &r), "declined",
           "conditions of one whose tag is not httpd's");

    learn(START TAG GZIP CLOSE TYPE "\r\n", FLAGS);
    set("hello");
    is_str(ask("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", &r),
           START TAG GZIP CLOSE TYPE "\r\n",
           "a body without length or chunks ends with the connection");
    ok(!r.keepalive && r.body_len == 5, "which is closed");
    is_str(ask("HEAD /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", &r),
           START TAG GZIP KEEP TYPE "\r\n", "but not for HEAD");
}

int main(void)
{
    heads();
    bodies();
    replies();
    return done();
}
