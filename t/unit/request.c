/* SPDX-License-Identifier: Apache-2.0 */
/* request: which requests are mine, at every split point, with the input
 * flush against a page that cannot be read. */
#include "http/request.h"

#include "tap.h"

#include <ctype.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGES 3

static char *edge; /* the first byte that cannot be read */

/* The bytes right before the edge. */
static const char *flush(const char *text, size_t len)
{
    return memcpy(edge - len, text, len);
}

static request_verdict look(const char *text, size_t len, request *req)
{
    return request_recognise(flush(text, len), len, NULL, req);
}

/* Every proper prefix of mine is incomplete; bytes behind change nothing. */
static int splits_ok(const char *text, size_t len)
{
    static const char more[8] = "\0\r\nPOST";
    request req;
    char longer[REQUEST_HEAD + 16];
    size_t i;

    for (i = 0; i < len; i++) {
        if (look(text, i, &req) != REQUEST_INCOMPLETE) {
            printf("# prefix of %zu\n", i);
            return 0;
        }
    }
    memcpy(longer, text, len);
    memcpy(longer + len, more, sizeof(more));
    return look(longer, len + sizeof(more), &req) == REQUEST_MINE
           && req.consumed == len;
}

/* Once not mine, always; and the prefixes before that are incomplete. */
static int refused_ok(const char *text, size_t len)
{
    request req;
    size_t i;
    request_verdict v, before = REQUEST_INCOMPLETE;

    for (i = 0; i <= len; i++) {
        v = look(text, i, &req);
        if (v == REQUEST_MINE || (before == REQUEST_NOT_MINE && v != before)) {
            return 0;
        }
        before = v;
    }
    return before == REQUEST_NOT_MINE;
}

#define H "Host: a\r\n"
#define R(uri) "GET " uri " HTTP/1.1\r\n" H "\r\n"
#define F(fields) "GET / HTTP/1.1\r\n" H fields "\r\n"

static void mine(void)
{
    static const char *const texts[] = {
        R("/"),
        "HEAD / HTTP/1.1\r\nhost:a.b-c_d:8080\r\n\r\n",
        "GET / HTTP/1.0\r\n\r\n",
        R("/a/b.html"),
        R("/dir/"),
        R("/?"),
        R("/x?y=/../%00;%2e//?\'"),
        R("/.well-known/a..b/...c"),
        R("/~u/!$&'()*+,=:@-_"),
        R("/a%20b%c3%a4%7e"),
        F("Connection: close\r\n"),
        F("Connection: Keep-Alive , CLOSE\r\n"),
        F("TE: trailers\r\nConnection: close, te\r\n"),
        F("Accept: */*\r\nACCEPT-encoding:gzip, br\t \r\n"),
        F("Cookie:\r\nUser-Agent:  \t\r\n"),
        F("Range: bytes=0-1\r\nIf-None-Match: \"x\"\r\n"),
        F("Via: a\r\nvia: b\r\nCookie: x=y\r\nCookie: z\r\n"),
        F("X-Unknown: x\r\nx: \r\nX-Unknown:y\r\n"),
        F("!#$%&'*+-.^_`|~1a: x\r\n"),
    };
    size_t i;

    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        ok(splits_ok(texts[i], strlen(texts[i])), "mine, mine %zu", i);
    }
}

/* Each with the fault of others that it stands for. */
static void not_mine(void)
{
    static const struct {
        const char *text, *why;
    } t[] = {
        {R("/%2e%2e/etc"), "25: encoded dots"},
        {R("/%252e/"), "25: twice encoded dots"},
        {R("/a%2fb"), "25: encoded slash"},
        {R("/a%5Cb"), "25: encoded backslash"},
        {R("/a%00"), "26: encoded NUL"},
        {R("/a%0ab"), "26: encoded control"},
        {R("/a%7fb"), "26: encoded DEL"},
        {R("/a%3bb"), "26: encoded semicolon"},
        {R("/a%"), "26: no escape"},
        {R("/a%4"), "26: half an escape"},
        {R("/a%gg"), "26: bad escape"},
        {R("/?%4"), "26: half an escape in the query"},
        {R("/a b"), "26: space"},
        {R("/a\\b"), "26: backslash"},
        {R("//a"), "26: two slashes"},
        {R("/a//b"), "26: two slashes within"},
        {R("/a;b"), "26: semicolon"},
        {R("/."), "25: dot"},
        {R("/.."), "25: dots"},
        {R("/./a"), "25: dot within"},
        {R("/a/../b"), "25: dots within"},
        {R("/a/..?x"), "25: dots before the query"},
        {R("/a#b"), "26: fragment"},
        {R("/?a#b"), "26: fragment behind the query"},
        {R("/\xc3\xa4"), "26: byte above ASCII"},
        {R("/?\xe4"), "26: byte above ASCII in the query"},
        {R("/\"<>"), "26: not URI characters"},
        {R("a"), "31: no slash"},
        {R("*"), "31: asterisk form"},
        {R("http://b/x"), "31: absolute form (pitfall 18)"},
        {R(""), "31: empty target"},
        {"POST / HTTP/1.1\r\n" H "\r\n", "other method"},
        {"get / HTTP/1.1\r\n" H "\r\n", "lower case method"},
        {"GETS / HTTP/1.1\r\n" H "\r\n", "longer method"},
        {"\r\n" R("/"), "empty line in front"},
        {" " R("/"), "space in front"},
        {"GET  / HTTP/1.1\r\n" H "\r\n", "two spaces"},
        {"GET\t/ HTTP/1.1\r\n" H "\r\n", "tab"},
        {"GET /  HTTP/1.1\r\n" H "\r\n", "two spaces behind"},
        {"GET / HTTP/1.1 \r\n" H "\r\n", "space before the end"},
        {"GET / HTTP/1.2\r\n" H "\r\n", "1.2"},
        {"GET / HTTP/2.0\r\n" H "\r\n", "2.0"},
        {"GET / http/1.1\r\n" H "\r\n", "lower case protocol"},
        {"GET /\r\n", "34: HTTP/0.9"},
        {"GET / HTTP/1.1\n" H "\r\n", "30: bare LF"},
        {"GET / HTTP/1.1\r" H "\r\n", "30: bare CR"},
        {"GET / HTTP/1.1\r\n" H "\n", "30: bare LF at the end"},
        {"GET / HTTP/1.1\r\n" H "\rx", "30: bare CR at the end"},
        {"GET / HTTP/1.1\r\nHost: a\n\r\n", "30: bare LF after a field"},
        {F("Cookie: a\r\n b\r\n"), "30: obs-fold"},
        {F("Cookie: a\rb\r\n"), "30: CR in a value"},
        {F("Cookie : a\r\n"), "30: space before the colon"},
        {F(" Cookie: a\r\n"), "30: space before the name"},
        {F("Cookie\r\n"), "30: no colon"},
        {F(": a\r\n"), "30: no name"},
        {F("Cookie: \x01\r\n"), "control in a value"},
        {F("Cookie: \x7f\r\n"), "DEL in a value"},
        {F("Cookie: \xe4\r\n"), "above ASCII in a value"},
        {F("C\xc3\xb6okie: a\r\n"), "above ASCII in a name"},
        {F(H), "31: two Hosts"},
        {F("Range: a\r\nrange: b\r\n"), "a field twice"},
        {"GET / HTTP/1.1\r\n\r\n", "31: no Host"},
        {"GET / HTTP/1.1\r\nHost:\r\n\r\n", "31: empty Host"},
        {"GET / HTTP/1.1\r\nHost: a,b\r\n\r\n", "31: list of Hosts"},
        {"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", "31: space in Host"},
        {"GET / HTTP/1.1\r\nHost: a@b\r\n\r\n", "31: user in Host"},
        {"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", "31: slash in Host"},
        {"GET / HTTP/1.1\r\nHost: a:\r\n\r\n", "31: no port"},
        {"GET / HTTP/1.1\r\nHost: a:8b\r\n\r\n", "31: bad port"},
        {"GET / HTTP/1.1\r\nHost: a:123456\r\n\r\n", "31: long port"},
        {"GET / HTTP/1.1\r\nHost: [::1]\r\n\r\n", "31: IPv6 literal"},
        {"GET / HTTP/1.1\r\nHost: %61\r\n\r\n", "31: escape in Host"},
        {F("Content-Length: 0\r\n"), "29: length"},
        {F("Transfer-Encoding: chunked\r\n"), "29: coding"},
        {F("Expect: 100-continue\r\n"), "33: Expect"},
        {F("Upgrade: h2c\r\n"), "35: Upgrade"},
        {F("HTTP2-Settings: AA\r\n"), "35: HTTP2-Settings"},
        {F("Trailer: x\r\n"), "Trailer"},
        {F("Authorization: Basic x\r\n"), "Authorization"},
        {F("Proxy-Authorization: Basic x\r\n"), "Proxy-Authorization"},
        {F("If-Match: *\r\n"), "If-Match"},
        {F("Request-Range: bytes=0-0\r\n"), "an old Range"},
        {F("X/Y: x\r\n"), "no token in a name"},
        {F("X Y: x\r\n"), "a space in a name"},
        {F("X\"Y: x\r\n"), "a quote in a name"},
        {F("X-Y: a\r\n b\r\n"), "obs-fold of an inert field"},
        {F("X-Y: a\x01\r\n"), "control in an inert field"},
        {F("X-Y : a\r\n"), "space before an inert field's colon"},
        {F("Negotiate: x\r\n"), "read by mod_negotiation"},
        {F("Connection: Upgrade\r\n"), "35: Connection: Upgrade"},
        {F("Connection: c\r\n"), "a beginning of close"},
        {F("Connection: close keep-alive\r\n"), "tokens without comma"},
        {F("Connection:\r\n"), "empty Connection"},
        {F("Connection: close,\r\n"), "empty token"},
        {F("Connection: t\r\n"), "a beginning of TE"},
        {F("Connection: TEA\r\n"), "more than TE"},
        {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "35: HTTP/2 preface"},
        {"PROXY TCP4 1.2.3.4 1.2.3.4 1 2\r\n", "35: PROXY line"},
        {"\x16\x03\x01\x02", "35: TLS hello"},
    };
    size_t i;

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        ok(refused_ok(t[i].text, strlen(t[i].text)), "not mine: %s", t[i].why);
    }
    ok(refused_ok("GET /\0 HTTP/1.1\r\n" H "\r\n", 29), "not mine: 26: NUL");
    ok(refused_ok(F("Cookie: \0\r\n"), sizeof(F("Cookie: \0\r\n")) - 1),
       "not mine: NUL in a value");
}

/* Not mine is said at the first byte that cannot be. */
static void early(void)
{
    static const char *const t[] = {
        "P",
        "GEX",
        "GET x",
        "GET //",
        "GET /../",
        "GET /%2f",
        "GET / HTTP/2",
        "GET / HTTP/1.1\r\nTrailer:",
        "GET / HTTP/1.1\r\nX ",
        "GET / HTTP/1.1\r\nHost: a\r\nHost:",
        "GET / HTTP/1.1\r\nHost: a\r\nCookie: \n",
        "GET / HTTP/1.1\n",
    };
    size_t i;
    request req;

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        size_t len = strlen(t[i]);

        ok(look(t[i], len, &req) == REQUEST_NOT_MINE
               && look(t[i], len - 1, &req) == REQUEST_INCOMPLETE,
           "told at once, %zu", i);
    }
}

static int slice_is(const char *text, request_slice s, const char *want)
{
    return s.len == strlen(want) && !memcmp(text + s.off, want, s.len);
}

static void slices(void)
{
    static const char t[] = "HEAD /a%20b?c=d HTTP/1.0\r\n"
                            "Host:  b.c:81 \t\r\n"
                            "User-Agent: x  y\r\n"
                            "Referer:\r\n"
                            "Connection: close, keep-alive\r\n\r\nGET ";
    request r;

    is_int(request_recognise(t, sizeof(t) - 1, NULL, &r), REQUEST_MINE, "mine");
    is_int(r.consumed, sizeof(t) - 5, "consumed up to the next request");
    ok(r.head_only && r.minor == 0 && r.close && r.keep_alive, "flags");
    is_int(r.fields, 4, "fields");
    ok(slice_is(t, r.line, "HEAD /a%20b?c=d HTTP/1.0"), "line");
    ok(slice_is(t, r.target, "/a%20b?c=d"), "target");
    ok(slice_is(t, r.path, "/a%20b"), "path");
    ok(slice_is(t, r.header[REQUEST_HOST], "b.c:81"), "Host, trimmed");
    ok(slice_is(t, r.header[REQUEST_USER_AGENT], "x  y"), "User-Agent");
    ok(request_has(&r, REQUEST_REFERER) && r.header[REQUEST_REFERER].len == 0,
       "an empty field is there");
    ok(!request_has(&r, REQUEST_COOKIE), "an absent one is not");
}

static request_verdict limited(const char *text, unsigned line, unsigned fields,
                               unsigned size)
{
    request_limits limits = {line, fields, size};
    request req;

    return request_recognise(text, strlen(text), &limits, &req);
}

static void limits(void)
{
    static char big[REQUEST_HEAD + 200];
    static char many[4096];
    static const char end[4] = {'\r', '\n', '\r', '\n'};
    request req;
    size_t n;
    unsigned i;

    ok(limited(R("/"), 16, 1, 9) == REQUEST_MINE, "at the limits");
    ok(limited(R("/"), 15, 1, 9) == REQUEST_NOT_MINE, "line too long");
    ok(limited("GET /01234567890", 15, 1, 9) == REQUEST_NOT_MINE,
       "line already too long");
    ok(limited(R("/"), 16, 1, 8) == REQUEST_NOT_MINE, "field too long");
    ok(limited(F("Via: x\r\n"), 16, 1, 9) == REQUEST_NOT_MINE, "many fields");
    ok(limited(F("Via: x\r\n"), 16, 0, 9) == REQUEST_MINE, "0: no limit");
    ok(limited(F("X-A: 12\r\nx-a: 34\r\n"), 16, 9, 27) == REQUEST_MINE,
       "an inert field twice, shorter than a field may be");
    ok(limited(F("X-A: 12\r\nx-a: 34\r\n"), 16, 9, 26) == REQUEST_NOT_MINE,
       "or longer: httpd joins the values and measures");
    ok(limited(F("X-A: 12\r\nX-B: 34\r\n"), 16, 9, 9) == REQUEST_MINE,
       "two fields are not joined");

    n = (size_t)sprintf(big, "GET / HTTP/1.1\r\nHost: a\r\nCookie: ");
    memset(big + n, 'c', sizeof(big) - n);
    memcpy(big + REQUEST_HEAD - 4, end, 4);
    ok(splits_ok(big, REQUEST_HEAD), "a head of %d bytes", REQUEST_HEAD);
    memset(big + REQUEST_HEAD - 4, 'c', 4);
    memcpy(big + REQUEST_HEAD - 3, end, 4);
    ok(look(big, REQUEST_HEAD - 1, &req) == REQUEST_INCOMPLETE
           && look(big, REQUEST_HEAD, &req) == REQUEST_NOT_MINE
           && look(big, REQUEST_HEAD + 1, &req) == REQUEST_NOT_MINE,
       "one byte more is not mine");

    n = (size_t)sprintf(many, "GET / HTTP/1.1\r\n");
    for (i = 0; i < REQUEST_IDS; i++) {
        n += (size_t)sprintf(many + n, "%s: %s\r\n", request_field_name(i),
                             i == REQUEST_CONNECTION ? "close" : "a");
    }
    n += (size_t)sprintf(many + n, "\r\n");
    ok(splits_ok(many, n), "every known field at once");
}

/* Every byte at every place of a long value, of a path and of a query. */
static void every_byte(void)
{
    static const char *const before[] = {
        "GET / HTTP/1.1\r\nHost: a\r\nCookie: ",
        "GET /",
        "GET /?",
    };
    static const char *const after[] = {
        "\r\n\r\n",
        " HTTP/1.0\r\n\r\n",
        " HTTP/1.0\r\n\r\n",
    };
    static const char *const allowed[] = {
        " !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~\t",
        "!$&'()*+,-./:=?@_~", /* the question mark ends the path */
        "!$&'()*+,-./:;=?@_~",
    };
    char text[128], value[20];
    unsigned f, at, c, wrong;
    request req;

    for (f = 0; f < 3; f++) {
        wrong = 0;
        for (at = 1; at < 18; at++) {
            for (c = 1; c < 256; c++) {
                int want, got;

                memcpy(value, "xxxxxxxxxxxxxxxxxxx", sizeof(value));
                value[at] = (char)c;
                sprintf(text, "%s%s%s", before[f], value, after[f]);
                got = look(text, strlen(text), &req) == REQUEST_MINE;
                want = (c < 128 && isalnum((int)c))
                       || strchr(allowed[f], (int)c) != NULL;
                wrong += got != want;
            }
        }
        is_int(wrong, 0, "bytes 1-255 at every place");
    }
}

static size_t key_of(const char *text, int first, uint64_t vary,
                     unsigned char *key)
{
    request r;
    size_t base;

    memset(key, 0, REQUEST_KEY);
    if (request_recognise(text, strlen(text), NULL, &r) != REQUEST_MINE) {
        return 0;
    }
    return request_key(&r, text, "\177\0\0\1\0P", 6, first, vary, key, &base);
}

static size_t key_without_address(void)
{
    static const char text[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    unsigned char key[REQUEST_KEY];
    size_t base;
    request r;

    return request_recognise(text, sizeof(text) - 1, NULL, &r) == REQUEST_MINE
               ? request_key(&r, text, "", 0, 1, 0, key, &base)
               : 1;
}

/* The key of a request begins with that of its path. */
static void bases(void)
{
    unsigned char with[REQUEST_KEY], without[REQUEST_KEY];
    const char *text = R("/a?b=c");
    size_t len = key_of(R("/a"), 0, 0, without), base, n;
    char longer[REQUEST_KEY + 100] = "GET /a?";
    request r;

    request_recognise(text, strlen(text), NULL, &r);
    n = request_key(&r, text, "\177\0\0\1\0P", 6, 0, 0, with, &base);
    ok(base == len && n > base && !memcmp(with, without, len),
       "it begins with its path's");
    is_int(request_key_base(&r, n), base, "... as the request tells");
    text = R("/a");
    request_recognise(text, strlen(text), NULL, &r);
    n = request_key(&r, text, "\177\0\0\1\0P", 6, 0, 0, with, &base);
    ok(base == n && request_key_base(&r, n) == n, "or is that");
    text = R("/a?");
    request_recognise(text, strlen(text), NULL, &r);
    n = request_key(&r, text, "\177\0\0\1\0P", 6, 0, 0, with, &base);
    ok(base == len && n > base && request_key_base(&r, n) == base,
       "an empty query is one");
    memset(longer + strlen(longer), 'q', REQUEST_KEY);
    strcat(longer, " HTTP/1.1\r\n" H "\r\n");
    if (request_recognise(longer, strlen(longer), NULL, &r) == REQUEST_MINE) {
        n = request_key(&r, longer, "\177\0\0\1\0P", 6, 0, 0, with, &base);
        ok(n == 0 && base == len && !memcmp(with, without, len),
           "too long a query leaves the path's");
    }
    else {
        ok(0, "a long query is mine");
    }
}

static int differ(const char *a, const char *b, uint64_t vary)
{
    unsigned char x[REQUEST_KEY], y[REQUEST_KEY];
    size_t n = key_of(a, 0, vary, x), m = key_of(b, 0, vary, y);

    return n && m && (n != m || memcmp(x, y, n) != 0);
}

static void keys(void)
{
    uint64_t ae = (uint64_t)1 << REQUEST_ACCEPT_ENCODING;
    unsigned char x[REQUEST_KEY], y[REQUEST_KEY];
    char text[2048];
    size_t n;

    ok(differ(R("/a"), R("/b"), 0), "the target is in it");
    ok(differ(R("/"), R("/?"), 0), "the query is in it");
    ok(differ(R("/a?b"), R("/a%3fb"), 0), "raw, not decoded");
    ok(differ(R("/"), "GET / HTTP/1.0\r\n" H "\r\n", 0), "version");
    ok(differ("GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.0\r\n" H "\r\n", 0),
       "no Host is not some Host");
    ok(differ(R("/"), "GET / HTTP/1.1\r\nHost: A\r\n\r\n", 0),
       "Host is raw (pitfall 18)");
    ok(differ(R("/"), "GET / HTTP/1.1\r\nHost: a.\r\n\r\n", 0), "dot");
    ok(differ(R("/"), F("Accept-Encoding: br\r\n"), ae), "Vary'd field");
    ok(differ(R("/"), F("Accept-Encoding:\r\n"), ae), "absent is not empty");
    ok(!differ(R("/"), F("Accept-Encoding: br\r\n"), 0), "or is not in it");
    ok(!differ(R("/"), "HEAD / HTTP/1.1\r\n" H "\r\n", 0), "nor the method");
    ok(!differ(R("/"), F("Connection: close\r\n"), 0), "nor Connection");
    ok(!differ(R("/"), F("Range: bytes=0-0\r\n"), 0), "nor Range");

    n = key_of(R("/"), 0, 0, x);
    ok(key_of(R("/"), 1, 0, y) == n && memcmp(x, y, n) != 0,
       "the first request of a connection differs (pitfall 19)");
    ok(key_of(R("/"), 0, ae, y) && memcmp(x, y, n) != 0, "the mask is in it");
    sprintf(text, "GET /%01000d HTTP/1.1\r\n" H "\r\n", 0);
    is_int((long)key_of(text, 0, 0, x), 0, "too long for a key");
    sprintf(text, "GET /%0900d HTTP/1.1\r\n" H "\r\n", 0);
    ok(key_of(text, 0, 0, x) > 900, "a long key");
    is_int((long)key_without_address(), 0, "no address, no key");
    ok(!key_of(F("Via: a\r\nVia: a\r\n"), 0, (uint64_t)1 << REQUEST_VIA, x)
           && !differ(R("/"), F("Via: a\r\nVia: a\r\n"), ae),
       "no key with a field twice, but one without");
}

int main(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *map = mmap(NULL, (PAGES + 1) * page, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    edge = map + PAGES * page;
    if (map == MAP_FAILED || mprotect(edge, page, PROT_NONE)) {
        printf("Bail out! mmap\n");
        return 1;
    }
    mine();
    not_mine();
    early();
    slices();
    limits();
    every_byte();
    keys();
    bases();
    return done();
}
