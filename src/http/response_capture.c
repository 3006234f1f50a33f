/* SPDX-License-Identifier: Apache-2.0 */
#include "http/response.h"

#include "http/response_expires.h"
#include "base/httpdate.h"

#include <string.h>
#include <strings.h>

/* Status lines, that of a file first. */
static const struct {
    uint16_t status;
    const char *line;
} starts[] = {
    {200, "HTTP/1.1 200 OK\r\nDate: "},
    {301, "HTTP/1.1 301 Moved Permanently\r\nDate: "},
    {302, "HTTP/1.1 302 Found\r\nDate: "},
    {303, "HTTP/1.1 303 See Other\r\nDate: "},
    {307, "HTTP/1.1 307 Temporary Redirect\r\nDate: "},
    {308, "HTTP/1.1 308 Permanent Redirect\r\nDate: "},
    {404, "HTTP/1.1 404 Not Found\r\nDate: "},
    {410, "HTTP/1.1 410 Gone\r\nDate: "},
};
#define STARTS (sizeof(starts) / sizeof(starts[0]))

#define UPGRADE "Upgrade"
#define UPGRADE_LEN (sizeof(UPGRADE) - 1)

/* Fields that mean something here. */
enum name {
    NAME_OTHER = -1,
    NAME_LENGTH,
    NAME_MODIFIED,
    NAME_ETAG,
    NAME_RANGES,
    NAME_VARY,
    NAME_EXPIRES, /* with RESPONSE_CLOCKED only */
    NAME_CONNECTION,
    NAME_KEEP_ALIVE,
    NAME_TRANSFER, /* these four follow the connection lines in this order */
    NAME_TYPE,
    NAME_ENCODING,
    NAME_LANGUAGE,
    NAME_REFUSED
};

static const struct {
    const char *name;
    enum name is;
    response_field use;
} names[] = {
    {"Content-Length", NAME_LENGTH, RESPONSE_FIELD_NEVER},
    /* made, and conditions judged, before mod_headers changes them */
    {"Last-Modified", NAME_MODIFIED, RESPONSE_FIELD_PLAIN},
    {"ETag", NAME_ETAG, RESPONSE_FIELD_PLAIN},
    {"Accept-Ranges", NAME_RANGES, RESPONSE_FIELD_PLAIN},
    {"Vary", NAME_VARY, RESPONSE_FIELD_FREE},
    {"Expires", NAME_EXPIRES, RESPONSE_FIELD_FREE},
    {"Connection", NAME_CONNECTION, RESPONSE_FIELD_NEVER},
    {"Keep-Alive", NAME_KEEP_ALIVE, RESPONSE_FIELD_NEVER},
    /* mod_headers would put them before the connection lines, and into 304 */
    {"Content-Type", NAME_TYPE, RESPONSE_FIELD_NEVER},
    {"Content-Encoding", NAME_ENCODING, RESPONSE_FIELD_NEVER},
    {"Content-Language", NAME_LANGUAGE, RESPONSE_FIELD_NEVER},
    /* R7: made for one client, or for one connection */
    {"Set-Cookie", NAME_REFUSED, RESPONSE_FIELD_NEVER},
    {"Set-Cookie2", NAME_REFUSED, RESPONSE_FIELD_NEVER},
    {"Age", NAME_REFUSED, RESPONSE_FIELD_NEVER},
    {"WWW-Authenticate", NAME_REFUSED, RESPONSE_FIELD_NEVER},
    {"Authentication-Info", NAME_REFUSED, RESPONSE_FIELD_NEVER},
    {"Proxy-Authenticate", NAME_REFUSED, RESPONSE_FIELD_NEVER},
    {"Transfer-Encoding", NAME_TRANSFER, RESPONSE_FIELD_NEVER},
    /* the body is not simply the file, or 206 would differ */
    {"Trailer", NAME_REFUSED, RESPONSE_FIELD_NEVER},
    {"Content-Range", NAME_REFUSED, RESPONSE_FIELD_NEVER},
    {"Content-MD5", NAME_REFUSED, RESPONSE_FIELD_NEVER},
    {"Date", NAME_REFUSED, RESPONSE_FIELD_NEVER}, /* a second one */
};
#define NAMES (sizeof(names) / sizeof(names[0]))

/* The state while going through the lines. */
typedef struct learner {
    response *a;
    char *copy;
    unsigned seen;  /* bits of enum name */
    enum name last; /* of the line before */
    int encoded;
    int clocked;
} learner;

static int has(const learner *l, enum name is)
{
    return (int)(l->seen >> is & 1);
}

static int find_name(const char *p, size_t len)
{
    size_t i;

    for (i = 0; i < NAMES; i++) {
        if (strlen(names[i].name) == len
            && !strncasecmp(p, names[i].name, len)) {
            return (int)i;
        }
    }
    return -1;
}

response_field response_field_use(const char *name)
{
    int i = find_name(name, strlen(name));

    return i < 0 ? RESPONSE_FIELD_FREE : names[i].use;
}

static int equal(const char *value, size_t len, const char *text)
{
    return len == strlen(text) && !memcmp(value, text, len);
}

static int64_t decimal(const char *p, size_t len)
{
    int64_t v = 0;
    size_t i;

    if (len == 0 || len > 18 || (len > 1 && *p == '0')) {
        return -1;
    }
    for (i = 0; i < len; i++) {
        if (p[i] < '0' || p[i] > '9') {
            return -1;
        }
        v = v * 10 + p[i] - '0';
    }
    return v;
}

/* Text and tabs; no control, nothing above ASCII. */
static int printable(const char *p, size_t len)
{
    size_t i;

    for (i = 0; i < len; i++) {
        if (((unsigned char)p[i] < ' ' && p[i] != '\t')
            || (unsigned char)p[i] >= 0x7f) {
            return 0;
        }
    }
    return 1;
}

/* Notes where things are; @a line and @a value point into the copy. */
static const char *note(learner *l, enum name is, const char *line,
                        const char *value, size_t len)
{
    response *a = l->a;

    switch (is) {
    case NAME_LENGTH:
        a->length_at = (uint16_t)(value - l->copy);
        a->length_len = (uint16_t)len;
        a->length_line = (uint16_t)(line - l->copy);
        a->length_line_len = (uint16_t)(value + len + 2 - line);
        if (l->encoded && a->size < 0) {
            a->size = decimal(value, len);
        }
        return a->size >= 0 && decimal(value, len) == a->size
                   ? NULL
                   : "Content-Length is not the file's size";
    case NAME_TRANSFER:
        a->length_line = (uint16_t)(line - l->copy);
        a->length_line_len = (uint16_t)(value + len + 2 - line);
        return l->encoded && equal(value, len, "chunked")
                   ? NULL
                   : "it has a Transfer-Encoding";
    case NAME_MODIFIED:
        a->modified = httpdate_parse(value, len);
        return a->modified >= 0 ? NULL : "Last-Modified is not a date";
    case NAME_ETAG:
        a->etag = (uint16_t)(value - l->copy);
        a->etag_len = (uint16_t)len;
        return NULL;
    case NAME_RANGES:
        a->no_range = !equal(value, len, "bytes");
        return NULL;
    case NAME_EXPIRES:
        a->lifetime = httpdate_parse(value, len);
        /* what is no date is a constant of mod_headers, or never agrees */
        a->expires = a->lifetime < 0 ? 0 : (uint16_t)(value - l->copy);
        return NULL;
    case NAME_VARY:
        return memchr(value, '*', len) ? "Vary is *" : NULL;
    default:
        return NULL;
    }
}

/* httpd announces other protocols in the first answer of a connection, by lines
 * among its first; the token that it adds later about the connection is not
 * kept. @return NULL or why not */
static const char *announced(learner *l, const char *p, size_t at, size_t len)
{
    response *a = l->a;
    const char *value = p + at;

    if (l->last == NAME_KEEP_ALIVE || l->last >= NAME_TRANSFER
        || has(l, NAME_LENGTH)) {
        return "a field stands where httpd puts none";
    }
    if (!equal(value, len, UPGRADE) && !equal(value, len, UPGRADE ", close")
        && !equal(value, len, UPGRADE ", Keep-Alive")) {
        return "the Connection field is not httpd's own";
    }
    l->last = NAME_OTHER;
    memcpy(l->copy + a->head_len, p, at + UPGRADE_LEN);
    a->announce = (uint16_t)(a->head_len + at + UPGRADE_LEN);
    memcpy(l->copy + a->announce, "\r\n", 2);
    a->head_len = a->slot = (uint16_t)(a->announce + 2);
    return NULL;
}

/*
 * httpd's order at the end of a head: Keep-Alive, Connection,
 * Transfer-Encoding, Content-Type, Content-Encoding (a filter's comes before
 * them), Content-Language; nothing else among or after them. The first two are
 * not kept. @return NULL or why not
 */
static const char *in_order(learner *l, enum name is, const char *value,
                            size_t len)
{
    if (l->last >= NAME_TRANSFER
            ? is <= l->last
            : l->last == NAME_CONNECTION && is < NAME_TRANSFER) {
        return "a field stands where httpd puts none";
    }
    if (l->last == NAME_KEEP_ALIVE
        && (l->a->announce ? is < NAME_TRANSFER : is != NAME_CONNECTION)) {
        return "Keep-Alive without Connection";
    }
    if (is == NAME_CONNECTION
        && !equal(value, len,
                  l->last == NAME_KEEP_ALIVE ? "Keep-Alive" : "close")) {
        return "the Connection field is not httpd's own";
    }
    return NULL;
}

/* One line; @a len without its end. @return NULL or why not */
static const char *line(learner *l, const char *p, size_t len)
{
    const char *colon = memchr(p, ':', len), *error;
    response *a = l->a;
    char *copy = l->copy + a->head_len;
    size_t name_len, value_len;
    enum name is;
    int i;

    if (!colon || colon == p || len - (size_t)(colon - p) < 2 || colon[1] != ' '
        || !printable(p, len)) {
        return "a line of the head is not a field";
    }
    name_len = (size_t)(colon - p);
    value_len = len - name_len - 2;
    i = find_name(p, name_len);
    is = i < 0 ? NAME_OTHER : names[i].is;
    if (is == NAME_EXPIRES && !l->clocked) {
        is = NAME_OTHER;
    }
    if (is == NAME_REFUSED) {
        return "a field that is never repeated";
    }
    if (is != NAME_OTHER) {
        if (l->seen >> is & 1) {
            return "a field is there twice";
        }
        l->seen |= 1u << is;
    }
    if (is == NAME_CONNECTION && value_len >= UPGRADE_LEN
        && !memcmp(colon + 2, UPGRADE, UPGRADE_LEN)) {
        return announced(l, p, (size_t)(colon + 2 - p), value_len);
    }
    if (is == NAME_ENCODING && l->encoded) {
        is = NAME_OTHER;
    }
    error = in_order(l, is, colon + 2, value_len);
    if (error) {
        return error;
    }
    l->last = is;
    if (is == NAME_CONNECTION || is == NAME_KEEP_ALIVE) {
        return NULL;
    }
    memcpy(copy, p, len + 2);
    a->head_len = (uint16_t)(a->head_len + len + 2);
    if (is < NAME_TRANSFER) {
        a->slot = a->head_len;
    }
    return note(l, is, copy, copy + name_len + 2, value_len);
}

/* What a filter's output is like. @return NULL or why not */
static const char *encoded(learner *l)
{
    response *a = l->a;
    int length = has(l, NAME_LENGTH), chunks = has(l, NAME_TRANSFER);

    if (a->message ? has(l, NAME_ENCODING) || !length || chunks
                   : !has(l, NAME_ENCODING) || (length && chunks)) {
        return "its length or its coding is not a filter's";
    }
    a->framing = chunks   ? RESPONSE_FRAMING_CHUNKED
                 : length ? RESPONSE_FRAMING_LENGTH
                          : RESPONSE_FRAMING_CLOSE;
    if (a->size < 0) {
        a->size = 0;
    }
    return NULL;
}

/* What the fields together must satisfy. */
static const char *whole(learner *l, int64_t date, unsigned flags)
{
    response *a = l->a;

    if (!l->encoded && !has(l, NAME_LENGTH)) {
        return "no Content-Length";
    }
    if (l->last == NAME_KEEP_ALIVE && !a->announce) {
        return "Keep-Alive without Connection";
    }
    if (!has(l, NAME_RANGES)) {
        a->no_range = 1;
    }
    if (a->modified >= 0 && date - a->modified < RESPONSE_SETTLED) {
        return "the file has just changed";
    }
    if (a->expires) {
        a->lifetime -= date;
        if (a->lifetime < 0) {
            return "Expires is before Date";
        }
        if (!l->encoded && a->expires < a->length_at) {
            return "Expires stands before Content-Length";
        }
    }
    a->moving = a->announce || a->expires;
    a->date = date;
    a->plain = (flags & RESPONSE_PLAIN) != 0;
    a->clocked = (flags & RESPONSE_CLOCKED) != 0;
    a->no_304 =
        l->encoded || ((flags & RESPONSE_FILTERED) && has(l, NAME_VARY));
    return l->encoded ? encoded(l) : NULL;
}

/* Status and Date. @return where the line of Date ends; 0: it is no such head
 */
static size_t begins(response *a, const char *head, size_t len)
{
    size_t i, end;

    for (i = a->message; i < (a->message ? STARTS : 1); i++) {
        const size_t at = strlen(starts[i].line);

        end = at + RESPONSE_DATE + 2;
        if (len >= end + 2 && !memcmp(head, starts[i].line, at)
            && !memcmp(head + end - 2, "\r\n", 2)) {
            a->status = starts[i].status;
            a->date_at = (uint8_t)at;
            return end;
        }
    }
    return 0;
}

static const char *learn(learner *l, const char *head, size_t len,
                         unsigned flags)
{
    const size_t start = begins(l->a, head, len);
    const char *p = head + start, *end, *error;
    int64_t date;

    if (len > RESPONSE_HEAD || !start) {
        return "the head does not start as one of httpd";
    }
    date = httpdate_parse(head + l->a->date_at, RESPONSE_DATE);
    if (date < 0) {
        return "Date is not a date";
    }
    memcpy(l->copy, head, start);
    l->a->head_len = l->a->slot = (uint16_t)start;
    for (;;) {
        end = memchr(p, '\r', (size_t)(head + len - p));
        if (!end || end + 1 == head + len || end[1] != '\n') {
            return "the head has no end";
        }
        if (end == p) {
            break;
        }
        error = line(l, p, (size_t)(end - p));
        if (error) {
            return error;
        }
        p = end + 2;
    }
    if (p + 2 != head + len) {
        return "there is more than a head";
    }
    memcpy(l->copy + l->a->head_len, "\r\n", 2);
    l->a->head_len = (uint16_t)(l->a->head_len + 2);
    return whole(l, date, flags);
}

int response_learn(response *a, const char *head, size_t len, int64_t size,
                   unsigned flags, char *copy, const char **error)
{
    learner l = {.a = a,
                 .copy = copy,
                 .last = NAME_OTHER,
                 .encoded =
                     (flags & (RESPONSE_ENCODED | RESPONSE_MESSAGE)) != 0,
                 .clocked = (flags & RESPONSE_CLOCKED) != 0};

    memset(a, 0, sizeof(*a));
    a->head = copy;
    a->size = a->content = size;
    a->modified = -1;
    a->message = (flags & RESPONSE_MESSAGE) != 0;
    *error = learn(&l, head, len, flags);
    return *error ? -1 : 0;
}

void response_copy(response *a, const response *from, char *copy)
{
    *a = *from;
    memcpy(copy, from->head, from->head_len);
    a->head = copy;
    a->env = copy + from->head_len;
    if (from->env_len) {
        memcpy(copy + from->head_len, from->env, from->env_len);
    }
}

int response_is_same(const response *a, const response *b)
{
    return a->head_len == b->head_len && a->slot == b->slot
           && !memcmp(&a->base, &b->base, sizeof(a->base)) && a->size == b->size
           && a->plain == b->plain && a->no_304 == b->no_304
           && a->framing == b->framing && a->content == b->content
           && !memcmp(a->digest, b->digest, sizeof(a->digest))
           && a->env_len == b->env_len
           && (!a->env_len || !memcmp(a->env, b->env, a->env_len))
           && a->clocked == b->clocked && a->expires == b->expires
           && a->lifetime == b->lifetime && a->message == b->message
           && a->date_at == b->date_at && !memcmp(a->head, b->head, a->date_at)
           && response_expires_is_same(a->head, b->head,
                                       (size_t)a->date_at + RESPONSE_DATE + 2,
                                       a->head_len, a->expires);
}

int response_is_later(const response *a, const response *b)
{
    return response_expires_is_later(a->date, b->date, a->clocked, a->expires);
}
