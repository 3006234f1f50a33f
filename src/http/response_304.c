/* SPDX-License-Identifier: Apache-2.0 */
#include "http/response_304.h"

#include "http/put.h"
#include "http/response_expires.h"
#include "base/httpdate.h"

#include <strings.h>

#define STATUS "HTTP/1.1 304 Not Modified\r\nDate: "
#define DATE_AT (sizeof(STATUS) - 1)
#define DATE_LINE_END (DATE_AT + RESPONSE_DATE + 2)
#define UPGRADE "Upgrade"
#define UPGRADE_LEN (sizeof(UPGRADE) - 1)

/* What httpd puts into no 304, or for one client only (R7). */
static const char *const refused[] = {
    "Content-Length",
    "Content-Type",
    "Content-Encoding",
    "Content-Language",
    "Content-Range",
    "Content-MD5",
    "Transfer-Encoding",
    "Trailer",
    "Set-Cookie",
    "Set-Cookie2",
    "WWW-Authenticate",
    "Authentication-Info",
    "Proxy-Authenticate",
    "Age",
    "Date",
};
#define REFUSED (sizeof(refused) / sizeof(refused[0]))

/* A line without its end. */
typedef struct field {
    const char *line;
    size_t len;
    const char *value;
    size_t value_len;
} field;

/* The connection lines that have come; nothing follows them. */
enum seen {
    NOTHING,
    KEEP_ALIVE,
    CONNECTION
};

static int is_named(const field *f, const char *name)
{
    size_t len = strlen(name);

    return (size_t)(f->value - 2 - f->line) == len
           && !strncasecmp(f->line, name, len);
}

static int is_value(const field *f, const char *text)
{
    return f->value_len == strlen(text)
           && !memcmp(f->value, text, f->value_len);
}

/* @return NULL or why not */
static const char *split(field *f)
{
    const char *colon = memchr(f->line, ':', f->len);
    size_t i;

    if (!colon || colon == f->line || f->len - (size_t)(colon - f->line) < 2
        || colon[1] != ' ') {
        return "a line of the head is not a field";
    }
    for (i = 0; i < f->len; i++) {
        unsigned char c = (unsigned char)f->line[i];

        if ((c < ' ' && c != '\t') || c >= 0x7f) {
            return "a line of the head is not a field";
        }
    }
    f->value = colon + 2;
    f->value_len = f->len - (size_t)(f->value - f->line);
    for (i = 0; i < REFUSED; i++) {
        if (is_named(f, refused[i])) {
            return "a field that is never repeated";
        }
    }
    return NULL;
}

static void keep(response_304 *u, char *copy, const field *f, size_t len)
{
    memcpy(copy + u->head_len, f->line, len);
    copy[u->head_len + len] = '\r';
    copy[u->head_len + len + 1] = '\n';
    u->head_len = (uint16_t)(u->head_len + len + 2);
}

/* httpd's own lines about the connection, Keep-Alive before Connection, and
 * the one that announces a protocol. @return NULL or why not */
static const char *connection(response_304 *u, char *copy, const field *f,
                              enum seen *seen)
{
    if (is_named(f, "Keep-Alive")) {
        *seen = KEEP_ALIVE;
        return NULL;
    }
    if (*seen == NOTHING && !u->announce
        && (is_value(f, UPGRADE) || is_value(f, UPGRADE ", close")
            || is_value(f, UPGRADE ", Keep-Alive"))) {
        keep(u, copy, f, (size_t)(f->value - f->line) + UPGRADE_LEN);
        u->announce = (uint16_t)(u->head_len - 2);
        return NULL;
    }
    if (u->announce
        || !is_value(f, *seen == KEEP_ALIVE ? "Keep-Alive" : "close")) {
        return "the Connection field is not httpd's own";
    }
    *seen = CONNECTION;
    return NULL;
}

/* As in the 200. @return NULL or why not */
static const char *expires(response_304 *u, char *copy, const field *f)
{
    int64_t date = httpdate_parse(f->value, f->value_len);

    if (u->expires) {
        return "a field is there twice";
    }
    if (date >= 0) {
        u->expires = (uint16_t)(u->head_len + (f->value - f->line));
        u->lifetime = date - u->date;
    }
    keep(u, copy, f, f->len);
    return u->lifetime < 0 ? "Expires is before Date" : NULL;
}

static const char *line(response_304 *u, char *copy, field *f, enum seen *seen)
{
    const char *error = split(f);
    int about =
        !error && (is_named(f, "Connection") || is_named(f, "Keep-Alive"));

    if (error) {
        return error;
    }
    if (*seen == CONNECTION
        || (*seen == KEEP_ALIVE && !is_named(f, "Connection"))) {
        return "a field stands where httpd puts none";
    }
    if (about) {
        return connection(u, copy, f, seen);
    }
    if (u->clocked && is_named(f, "Expires")) {
        return expires(u, copy, f);
    }
    keep(u, copy, f, f->len);
    return NULL;
}

static const char *learn(response_304 *u, const char *head, size_t len,
                         char *copy)
{
    const char *p = head + DATE_LINE_END, *end, *error;
    enum seen seen = NOTHING;

    if (len > RESPONSE_HEAD || len < DATE_LINE_END + 2
        || memcmp(head, STATUS, DATE_AT) != 0
        || memcmp(p - 2, "\r\n", 2) != 0) {
        return "the head does not start as a 304 of httpd";
    }
    u->date = httpdate_parse(head + DATE_AT, RESPONSE_DATE);
    if (u->date < 0) {
        return "Date is not a date";
    }
    memcpy(copy, head, DATE_LINE_END);
    u->head_len = DATE_LINE_END;
    for (;; p = end + 2) {
        field f = {.line = p};

        end = memchr(p, '\r', (size_t)(head + len - p));
        if (!end || end + 1 == head + len || end[1] != '\n') {
            return "the head has no end";
        }
        if (end == p) {
            break;
        }
        f.len = (size_t)(end - p);
        error = line(u, copy, &f, &seen);
        if (error) {
            return error;
        }
    }
    if (seen == KEEP_ALIVE && !u->announce) {
        return "Keep-Alive without Connection";
    }
    if (p + 2 != head + len) {
        return "there is more than a head";
    }
    copy[u->head_len++] = '\r';
    copy[u->head_len++] = '\n';
    return NULL;
}

int response_304_learn(response_304 *u, const char *head, size_t len,
                       int clocked, char *copy, const char **error)
{
    memset(u, 0, sizeof(*u));
    u->head = copy;
    u->clocked = clocked != 0;
    *error = learn(u, head, len, copy);
    return *error ? -1 : 0;
}

size_t response_304_make(const response_304 *u, const response_clock *clock,
                         const response_lines *says, char *buf)
{
    char *end = put(buf, u->head, (size_t)u->head_len - 2);

    memcpy(buf + DATE_AT, clock->date, RESPONSE_DATE);
    if (u->expires) {
        httpdate_format(buf + u->expires, clock->seconds + u->lifetime);
    }
    end = put(end, says->text, says->len);
    end = PUT(end, "\r\n");
    if (u->announce) {
        end = response_lines_announce(buf + u->announce, end, says);
    }
    return (size_t)(end - buf);
}

int response_304_is_exact(const response_304 *u, const request *req,
                          const response_connection *conn, const char *sent,
                          size_t sent_len)
{
    char buf[RESPONSE_HEAD + RESPONSE_LINES];
    response_clock clock = {.seconds = u->date};
    response_lines says;

    if (sent_len < DATE_LINE_END) {
        return 0;
    }
    memcpy(clock.date, sent + DATE_AT, RESPONSE_DATE);
    response_lines_say(req, conn, u->announce != 0, 1, &says);
    return response_304_make(u, &clock, &says, buf) == sent_len
           && !memcmp(buf, sent, sent_len);
}

void response_304_copy(response_304 *u, const response_304 *from, char *copy)
{
    *u = *from;
    memcpy(copy, from->head, from->head_len);
    u->head = copy;
}

int response_304_is_same(const response_304 *a, const response_304 *b)
{
    return a->head_len == b->head_len && a->announce == b->announce
           && a->clocked == b->clocked && a->expires == b->expires
           && a->lifetime == b->lifetime
           && !memcmp(&a->base, &b->base, sizeof(a->base))
           && response_expires_is_same(a->head, b->head, DATE_LINE_END,
                                       a->head_len, a->expires);
}

int response_304_is_later(const response_304 *a, const response_304 *b)
{
    return response_expires_is_later(a->date, b->date, a->clocked, a->expires);
}
