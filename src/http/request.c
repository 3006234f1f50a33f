/* SPDX-License-Identifier: Apache-2.0 */
#include "http/request.h"

#include "http/request_repeat.h"

#include <string.h>

/* What a byte may be part of. Controls, DEL and everything from 0x80 up are in
 * no class: they are left to httpd. */
#define PATH 1u    /* stands for itself in a path: unreserved, sub-delims, :@ */
#define QUERY 2u   /* the same in a query */
#define VALUE 4u   /* in the value of a field */
#define HOST 8u    /* in a host name */
#define DIGIT 16u  /* 0-9 */
#define ESCAPE 32u /* what %XX may mean in a path (>= 0x80 may too) */
#define NAME 64u   /* in the name of a field: a token */

#define ALNUM (PATH | QUERY | VALUE | HOST | ESCAPE | NAME)
#define PUNCT (PATH | QUERY | VALUE | ESCAPE)

/* Of the path characters ';' is left to httpd. */
static const unsigned char class_of[256] = {
    ['\t'] = VALUE,
    [' '] = VALUE | ESCAPE,
    ['!'] = PUNCT | NAME,
    ['"'] = VALUE | ESCAPE,
    ['#'] = VALUE | ESCAPE | NAME,
    ['$'] = PUNCT | NAME,
    ['%'] = VALUE | NAME,
    ['&' ... '\''] = PUNCT | NAME,
    ['(' ... ')'] = PUNCT,
    ['*' ... '+'] = PUNCT | NAME,
    [','] = PUNCT,
    ['-'] = PUNCT | HOST | NAME,
    ['.'] = PATH | QUERY | VALUE | HOST | NAME,
    ['/'] = QUERY | VALUE,
    ['0' ... '9'] = ALNUM | DIGIT,
    [':'] = PUNCT,
    [';'] = QUERY | VALUE,
    ['<'] = VALUE | ESCAPE,
    ['='] = PUNCT,
    ['>'] = VALUE | ESCAPE,
    ['?'] = QUERY | VALUE | ESCAPE,
    ['@'] = PUNCT,
    ['A' ... 'Z'] = ALNUM,
    ['['] = VALUE | ESCAPE,
    ['\\'] = VALUE,
    [']'] = VALUE | ESCAPE,
    ['^'] = VALUE | ESCAPE | NAME,
    ['_'] = PUNCT | HOST | NAME,
    ['`'] = VALUE | ESCAPE | NAME,
    ['a' ... 'z'] = ALNUM,
    ['{'] = VALUE | ESCAPE,
    ['|'] = VALUE | ESCAPE | NAME,
    ['}'] = VALUE | ESCAPE,
    ['~'] = PUNCT | NAME,
};

/* Where the recogniser stands. */
typedef struct scan {
    const char *base;
    const char *p;
    const char *end;
    const request_limits *limits;
    request *req;
} scan;

/* Inside these functions REQUEST_MINE means: go on. */

static int is(char c, unsigned class)
{
    return (class_of[(unsigned char)c] & class) != 0;
}

/* The first byte that is not of the class. */
static const char *skip(const char *p, const char *end, unsigned class)
{
    while (p < end && is(*p, class)) {
        p++;
    }
    return p;
}

/* The same for VALUE, eight bytes at a time while they are all of
 * 0x20-0x7e: a browser's fields are long. */
static const char *skip_value(const char *p, const char *end)
{
    const uint64_t ones = 0x0101010101010101;
    uint64_t x;

    while (end - p >= 8) {
        memcpy(&x, p, 8);
        if ((((x - ones * 0x20) & ~x) | (x + ones) | x) & ones * 0x80) {
            break;
        }
        p += 8;
    }
    return skip(p, end, VALUE);
}

static request_slice slice(const scan *s, const char *from, const char *to)
{
    return (request_slice){(uint16_t)(from - s->base), (uint16_t)(to - from)};
}

/* Out of line, and not passed the scan, which so stays in registers. */
static request_verdict __attribute__((cold, noinline))
not_mine(request *req, request_why why)
{
    req->why = (uint8_t)why;
    req->culprit = (request_slice){0, 0};
    return REQUEST_NOT_MINE;
}

static request_verdict literal(scan *s, const char *text, size_t len,
                               request_why why)
{
    size_t there = (size_t)(s->end - s->p);

    if (there >= len) {
        if (memcmp(s->p, text, len) != 0) {
            return not_mine(s->req, why);
        }
        s->p += len;
        return REQUEST_MINE;
    }
    return memcmp(s->p, text, there) != 0 ? not_mine(s->req, why)
                                          : REQUEST_INCOMPLETE;
}

static int hex(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
        return (c | 0x20) - 'a' + 10;
    }
    return -1;
}

/* %XX at s->p. In a path, only a byte that must be part of a name: no slash,
 * backslash, dot, percent, control or NUL (CVE-2021-41773, -42013). */
static request_verdict escape(scan *s, int in_path)
{
    int high, low, c;

    if (s->end - s->p < 2) {
        return REQUEST_INCOMPLETE;
    }
    high = hex(s->p[1]);
    if (high < 0) {
        return not_mine(s->req, REQUEST_WHY_TARGET);
    }
    if (s->end - s->p < 3) {
        return REQUEST_INCOMPLETE;
    }
    low = hex(s->p[2]);
    c = high * 16 + low;
    if (low < 0 || (in_path && c < 0x80 && !is((char)c, ESCAPE))) {
        return not_mine(s->req, REQUEST_WHY_TARGET);
    }
    s->p += 3;
    return REQUEST_MINE;
}

/* One path segment after its slash: not "." or "..", and empty only as the
 * last one. Stops at the byte that ends it. */
static request_verdict segment(scan *s)
{
    const char *from = s->p;
    request_verdict v;
    size_t len;

    for (;;) {
        s->p = skip(s->p, s->end, PATH);
        if (s->p == s->end) {
            return REQUEST_INCOMPLETE;
        }
        if (*s->p != '%') {
            break;
        }
        v = escape(s, 1);
        if (v != REQUEST_MINE) {
            return v;
        }
    }
    len = (size_t)(s->p - from);
    if (len ? len <= 2 && !memcmp(from, "..", len) : *s->p == '/') {
        return not_mine(s->req, REQUEST_WHY_TARGET);
    }
    return REQUEST_MINE;
}

static request_verdict query(scan *s)
{
    request_verdict v;

    for (;;) {
        s->p = skip(s->p, s->end, QUERY);
        if (s->p == s->end) {
            return REQUEST_INCOMPLETE;
        }
        if (*s->p != '%') {
            return REQUEST_MINE;
        }
        v = escape(s, 0);
        if (v != REQUEST_MINE) {
            return v;
        }
    }
}

static request_verdict target(scan *s)
{
    const char *from = s->p;
    request_verdict v = REQUEST_MINE;

    if (s->p == s->end) {
        return REQUEST_INCOMPLETE;
    }
    if (*s->p != '/') {
        return not_mine(s->req, REQUEST_WHY_ABSOLUTE);
    }
    while (v == REQUEST_MINE && *s->p == '/') {
        s->p++;
        v = segment(s);
    }
    if (v != REQUEST_MINE) {
        return v;
    }
    s->req->path = slice(s, from, s->p);
    if (*s->p == '?') {
        s->p++;
        v = query(s);
        if (v != REQUEST_MINE) {
            return v;
        }
    }
    s->req->target = slice(s, from, s->p);
    return *s->p == ' ' ? REQUEST_MINE : not_mine(s->req, REQUEST_WHY_TARGET);
}

static request_verdict request_line(scan *s)
{
    request_verdict v;

    if (s->p == s->end) {
        return REQUEST_INCOMPLETE;
    }
    s->req->head_only = *s->p == 'H';
    v = s->req->head_only ? literal(s, "HEAD ", 5, REQUEST_WHY_METHOD)
                          : literal(s, "GET ", 4, REQUEST_WHY_METHOD);
    if (v == REQUEST_MINE) {
        v = target(s);
    }
    if (v == REQUEST_MINE) {
        v = literal(s, " HTTP/1.", 8, REQUEST_WHY_VERSION);
    }
    if (v != REQUEST_MINE) {
        return v;
    }
    if (s->p == s->end) {
        return REQUEST_INCOMPLETE;
    }
    if (*s->p != '0' && *s->p != '1') {
        return not_mine(s->req, REQUEST_WHY_VERSION);
    }
    s->req->minor = (uint8_t)(*s->p++ - '0');
    s->req->line = slice(s, s->base, s->p);
    return literal(s, "\r\n", 2, REQUEST_WHY_SYNTAX);
}

/* Letters, digits, dots, hyphens and underscores, then an optional port.
 * Whether the name makes sense is for httpd to say when it makes the answer. */
static int host_ok(const char *p, const char *end)
{
    const char *digits;

    if (p == end) {
        return 0;
    }
    p = skip(p, end, HOST);
    if (p == end) {
        return 1;
    }
    if (*p++ != ':') {
        return 0;
    }
    digits = p;
    p = skip(p, end, DIGIT);
    return p == end && p > digits && p - digits <= 5;
}

/* 1 when the @a len bytes of a token at @a p are @a lower in any case. */
static int same(const char *p, size_t len, const char *lower)
{
    size_t i;

    for (i = 0; i < len; i++) {
        if ((p[i] | 0x20) != lower[i]) {
            return 0;
        }
    }
    return lower[len] == '\0';
}

/*
 * A list of "close", "keep-alive" and "TE" and nothing else. httpd's own search
 * takes any prefix of the first two for the word ("Connection: c" closes), and
 * other tokens may name an upgrade: both are left to httpd. TE goes with the
 * field of that name, which nobody reads.
 */
static int connection_ok(request *req, const char *p, const char *end)
{
    for (;;) {
        const char *from = p;

        p = skip(p, end, NAME);
        if (same(from, (size_t)(p - from), "close")) {
            req->close = 1;
        }
        else if (same(from, (size_t)(p - from), "keep-alive")) {
            req->keep_alive = 1;
        }
        else if (!same(from, (size_t)(p - from), "te")) {
            return 0;
        }
        while (p < end && *p == ' ') {
            p++;
        }
        if (p == end) {
            return 1;
        }
        if (*p++ != ',') {
            return 0;
        }
        while (p < end && *p == ' ') {
            p++;
        }
    }
}

/* The line at @a name does not begin with the name of a field that may be in
 * a request of the loop. */
static request_verdict __attribute__((cold, noinline))
unknown(request *req, const char *base, const char *name, const char *end)
{
    size_t len;

    not_mine(req, request_why_field(name, end, &len));
    req->culprit = (request_slice){(uint16_t)(name - base), (uint16_t)len};
    return REQUEST_NOT_MINE;
}

/* The name of a field and its colon. */
static request_verdict field_name(scan *s, int *id)
{
    const char *name = s->p, *p = skip(name, s->end, NAME);

    s->p = p;
    if (p == s->end) {
        return REQUEST_INCOMPLETE;
    }
    if (*p != ':' || p == name) {
        return unknown(s->req, s->base, name, s->end);
    }
    s->p++;
    *id = request_field_find(name, (size_t)(p - name));
    if (*id >= 0) {
        s->req->twice |= s->req->present & (uint64_t)1 << *id;
        return s->req->twice & requestfield_once
                   ? not_mine(s->req, REQUEST_WHY_TWICE)
                   : REQUEST_MINE;
    }
    return *id == REQUEST_FIELD_INERT ? REQUEST_MINE
                                      : unknown(s->req, s->base, name, s->end);
}

static int value_ok(request *req, int id, const char *from, const char *to)
{
    switch (id) {
    case REQUEST_HOST:
        return host_ok(from, to);
    case REQUEST_CONNECTION:
        return connection_ok(req, from, to);
    default:
        return 1;
    }
}

static request_verdict field(scan *s)
{
    const char *start = s->p, *from, *to;
    request_verdict v;
    int id = -1;

    v = field_name(s, &id);
    if (v != REQUEST_MINE) {
        return v;
    }
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\t')) {
        s->p++;
    }
    from = s->p;
    to = s->p = skip_value(from, s->end);
    /* httpd limits the whole line; stay two bytes short of its edge cases */
    if (s->limits && to - start + 2 > (long)s->limits->fieldsize) {
        return not_mine(s->req, REQUEST_WHY_SIZE);
    }
    v = literal(s, "\r\n", 2, REQUEST_WHY_SYNTAX);
    if (v != REQUEST_MINE) {
        return v;
    }
    while (to > from && (to[-1] == ' ' || to[-1] == '\t')) {
        to--;
    }
    if (!value_ok(s->req, id, from, to)) {
        return not_mine(s->req, id == REQUEST_HOST ? REQUEST_WHY_HOST
                                                   : REQUEST_WHY_CONNECTION);
    }
    if (id >= 0) {
        s->req->header[id] = slice(s, from, to);
        s->req->present |= (uint64_t)1 << id;
    }
    s->req->fields++;
    return REQUEST_MINE;
}

static request_verdict fields(scan *s)
{
    unsigned most = REQUEST_FIELDS;
    request_verdict v = REQUEST_MINE;

    if (s->limits && s->limits->fields && s->limits->fields < most) {
        most = s->limits->fields;
    }
    while (v == REQUEST_MINE) {
        if (s->p == s->end) {
            return REQUEST_INCOMPLETE;
        }
        if (*s->p == '\r') {
            return literal(s, "\r\n", 2, REQUEST_WHY_SYNTAX);
        }
        if (s->req->fields == most) {
            return not_mine(s->req, REQUEST_WHY_COUNT);
        }
        v = field(s);
    }
    return v;
}

request_verdict request_recognise(const char *head, size_t len,
                                  const request_limits *limits, request *req)
{
    size_t most = len < REQUEST_HEAD ? len : REQUEST_HEAD;
    scan s = {head, head, head + most, limits, req};
    request_verdict v;
    const char *first;

    req->present = 0;
    req->twice = 0;
    req->close = 0;
    req->keep_alive = 0;
    req->fields = 0;
    v = request_line(&s);
    /* as for fields: httpd's limit, two bytes early */
    if (limits && v != REQUEST_NOT_MINE) {
        const char *to = v == REQUEST_MINE ? s.p : s.end;

        if (to - head > (long)limits->line) {
            return not_mine(req, REQUEST_WHY_SIZE);
        }
    }
    if (v == REQUEST_MINE) {
        v = fields(&s);
    }
    if (v == REQUEST_INCOMPLETE && len >= REQUEST_HEAD) {
        return not_mine(req, REQUEST_WHY_SIZE);
    }
    if (v != REQUEST_MINE) {
        return v;
    }
    /* httpd's 400 */
    if (req->minor == 1 && !request_has(req, REQUEST_HOST)) {
        return not_mine(req, REQUEST_WHY_HOST);
    }
    req->consumed = (uint16_t)(s.p - head);
    /* httpd's 400 for values that it has joined */
    first = head + req->line.len + 2;
    if (limits && s.p - 2 - first > (long)limits->fieldsize
        && request_repeat_has(first, s.p - 2)) {
        return not_mine(req, REQUEST_WHY_TWICE);
    }
    return REQUEST_MINE;
}
