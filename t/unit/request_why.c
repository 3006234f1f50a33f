/* SPDX-License-Identifier: Apache-2.0 */
/* request_why: why a request is not mine, and which field it was. */
#include "http/request.h"

#include "tap.h"

#include <string.h>

#define H "Host: a\r\n"
#define R(uri) "GET " uri " HTTP/1.1\r\n" H "\r\n"
#define F(fields) "GET / HTTP/1.1\r\n" H fields "\r\n"

/* Why, and which field: each kind of request that is httpd's. */
static void reasons(void)
{
    static const struct {
        const char *text;
        request_why why;
        const char *culprit;
    } t[] = {
        {"POST / HTTP/1.1\r\n" H "\r\n", REQUEST_WHY_METHOD, ""},
        {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", REQUEST_WHY_METHOD, ""},
        {"\x16\x03\x01\x02", REQUEST_WHY_METHOD, ""},
        {R("http://a/"), REQUEST_WHY_ABSOLUTE, ""},
        {R("*"), REQUEST_WHY_ABSOLUTE, ""},
        {R("/../"), REQUEST_WHY_TARGET, ""},
        {R("//"), REQUEST_WHY_TARGET, ""},
        {R("/a;b"), REQUEST_WHY_TARGET, ""},
        {R("/%2f"), REQUEST_WHY_TARGET, ""},
        {"GET /\r\n", REQUEST_WHY_TARGET, ""},
        {"GET / HTTP/2.0\r\n", REQUEST_WHY_VERSION, ""},
        {"GET / FTP/1.1\r\n", REQUEST_WHY_VERSION, ""},
        {"GET / HTTP/1.1\n", REQUEST_WHY_SYNTAX, ""},
        {F("Negotiate: secret\r\n"), REQUEST_WHY_FIELD, "Negotiate"},
        {F("trailer: a\r\n"), REQUEST_WHY_FIELD, "trailer"},
        {"GET / HTTP/1.1\r\n" H "If-Match:", REQUEST_WHY_FIELD, "If-Match"},
        {F("content-Length: 0\r\n"), REQUEST_WHY_BODY, "content-Length"},
        {F("Transfer-Encoding: x\r\n"), REQUEST_WHY_BODY, "Transfer-Encoding"},
        {F("Range: a\r\nrange: b\r\n"), REQUEST_WHY_TWICE, ""},
        {F("Cookie : a\r\n"), REQUEST_WHY_SYNTAX, "Cookie"},
        {F(" a\r\n"), REQUEST_WHY_SYNTAX, ""},
        {F("Cookie: \x01\r\n"), REQUEST_WHY_SYNTAX, ""},
        {F("Connection: Upgrade\r\n"), REQUEST_WHY_CONNECTION, ""},
        {"GET / HTTP/1.1\r\n\r\n", REQUEST_WHY_HOST, ""},
        {"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", REQUEST_WHY_HOST, ""},
    };
    size_t i;
    request req;

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        size_t len = strlen(t[i].text);
        const char *head = t[i].text;
        request_verdict v = request_recognise(head, len, NULL, &req);

        ok(v == REQUEST_NOT_MINE && req.why == t[i].why
               && req.culprit.len == strlen(t[i].culprit)
               && !memcmp(head + req.culprit.off, t[i].culprit,
                          req.culprit.len),
           "why it is not mine, %zu: %s %.*s", i, request_why_name(req.why),
           req.culprit.len, head + req.culprit.off);
    }
    for (i = 0; i < REQUEST_WHYS; i++) {
        ok(request_why_name((unsigned)i) && request_why_text((unsigned)i),
           "reason %zu has a name", i);
    }
    ok(!request_why_name(REQUEST_WHYS) && !request_why_text(REQUEST_WHYS),
       "none past the end");
}

static int limited(unsigned line, unsigned fields, unsigned size)
{
    static const char text[] = F("Via: x\r\n");
    request_limits limits = {line, fields, size};
    request req;

    return request_recognise(text, sizeof(text) - 1, &limits, &req)
                   == REQUEST_NOT_MINE
               ? req.why
               : -1;
}

static void limits(void)
{
    static char big[REQUEST_HEAD + 1];
    request req;
    int n = sprintf(big, "GET / HTTP/1.1\r\n" H "Cookie: ");

    is_int(limited(100, 2, 100), -1, "within the limits");
    is_int(limited(15, 2, 100), REQUEST_WHY_SIZE, "LimitRequestLine");
    is_int(limited(100, 1, 100), REQUEST_WHY_COUNT, "LimitRequestFields");
    is_int(limited(100, 2, 8), REQUEST_WHY_SIZE, "LimitRequestFieldSize");
    memset(big + n, 'c', sizeof(big) - (size_t)n);
    ok(request_recognise(big, sizeof(big), NULL, &req) == REQUEST_NOT_MINE
           && req.why == REQUEST_WHY_SIZE,
       "a head that does not end");
}

int main(void)
{
    reasons();
    limits();
    return done();
}
