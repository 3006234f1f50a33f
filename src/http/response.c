/* SPDX-License-Identifier: Apache-2.0 */
#include "http/response.h"

#include "http/response_cond.h"
#include "base/httpdate.h"

#include <string.h>

/* "HTTP/1.1 200 OK\r\n" and what comes before the date. */
#define OK_LINE_LEN 17
#define DATE_AT 23

/* Other status lines. */
#define PART "HTTP/1.1 206 Partial Content\r\n"
#define PART_LEN (sizeof(PART) - 1)
#define UNCHANGED "HTTP/1.1 304 Not Modified\r\n"
#define UNCHANGED_LEN (sizeof(UNCHANGED) - 1)

/* The longest connection lines: two numbers of ten digits. */
#define LINES 96

_Static_assert(RESPONSE_DATE == HTTPDATE_LEN, "one format of dates");

/* Appends text of a known length. */
static char *put(char *p, const char *text, size_t len)
{
    memcpy(p, text, len);
    return p + len;
}

#define PUT(p, literal) put(p, literal, sizeof(literal) - 1)

static char *put_number(char *p, int64_t n)
{
    char digits[20];
    int i = (int)sizeof(digits);

    do {
        digits[--i] = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    return put(p, digits + i, sizeof(digits) - (size_t)i);
}

/* What httpd says of the connection: lines, and where it announces a protocol,
 * what the Connection line there goes on with. */
typedef struct connection {
    size_t len;
    char lines[LINES];
    const char *token; /* "": nothing */
} connection;

/* What ap_set_keepalive decides, and adds. A body without length or chunks
 * ends with its connection. */
static void connection_says(const response *a, const request *req,
                            const response_connection *conn, connection *says,
                            response_reply *reply)
{
    int left = conn->max - conn->keepalives;
    char *p = says->lines;

    reply->keepalive =
        conn->keep_alive && conn->timeout > 0 && (conn->max == 0 || left > 0)
        && !req->close && (req->keep_alive || req->minor == 1)
        && !conn->stopping
        && (a->framing != RESPONSE_FRAMING_CLOSE || req->head_only);
    reply->keepalives = conn->keepalives;
    if (!reply->keepalive) {
        if (conn->max && left == 0) {
            reply->keepalives++;
        }
        says->token = ", close";
        p = a->announce ? p : PUT(p, "Connection: close\r\n");
        says->len = (size_t)(p - says->lines);
        return;
    }
    reply->keepalives++;
    if (!req->keep_alive) {
        says->token = "";
        says->len = 0;
        return;
    }
    says->token = ", Keep-Alive";
    p = PUT(p, "Keep-Alive: timeout=");
    p = put_number(p, (int)(conn->timeout / 1000000));
    if (conn->max) {
        p = PUT(p, ", max=");
        p = put_number(p, left);
    }
    p = a->announce ? PUT(p, "\r\n") : PUT(p, "\r\nConnection: Keep-Alive\r\n");
    says->len = (size_t)(p - says->lines);
}

/* Puts the token into a head whose Date ends at @a date. @return its end */
static char *announce(char *date, char *end, const response *a,
                      const char *token)
{
    char *at = date + a->announce - (DATE_AT + RESPONSE_DATE);
    size_t len = strlen(token);

    memmove(at + len, at, (size_t)(end - at));
    memcpy(at, token, len);
    return end + len;
}

/* The head up to and including the Date, for a status line. */
static char *start(char *p, const response *a, const char *status, size_t len,
                   const response_clock *clock)
{
    p = put(p, status, len);
    p = put(p, a->head + OK_LINE_LEN, DATE_AT - OK_LINE_LEN);
    return put(p, clock->date, RESPONSE_DATE);
}

/* 200. HEAD of an empty file loses its Content-Length in httpd, and that of a
 * body in chunks its Transfer-Encoding, which follows the connection lines. */
static char *whole(char *p, const response *a, const request *req,
                   const response_clock *clock, const char *lines, size_t len)
{
    char *date = p + DATE_AT;
    size_t after = a->length_line + a->length_line_len, tail = a->slot;

    if (req->head_only && a->framing == RESPONSE_FRAMING_CHUNKED) {
        tail = after;
        p = put(p, a->head, a->slot);
    }
    else if (req->head_only && a->size == 0) {
        p = put(p, a->head, a->length_line);
        p = put(p, a->head + after, a->slot - after);
    }
    else {
        p = put(p, a->head, a->slot);
    }
    memcpy(date, clock->date, RESPONSE_DATE);
    p = put(p, lines, len);
    return put(p, a->head + tail, (size_t)(a->head_len - tail));
}

/* 206: the length in its place, Content-Range before the connection lines. */
static char *part(char *p, const response *a, const response_clock *clock,
                  const char *lines, size_t len, int64_t first, int64_t last)
{
    size_t at = DATE_AT + RESPONSE_DATE, after = a->length_at + a->length_len;

    p = start(p, a, PART, PART_LEN, clock);
    p = put(p, a->head + at, a->length_at - at);
    p = put_number(p, last - first + 1);
    p = put(p, a->head + after, a->slot - after);
    p = PUT(p, "Content-Range: bytes ");
    p = put_number(p, first);
    *p++ = '-';
    p = put_number(p, last);
    *p++ = '/';
    p = put_number(p, a->size);
    p = PUT(p, "\r\n");
    p = put(p, lines, len);
    return put(p, a->head + a->slot, (size_t)(a->head_len - a->slot));
}

/* 304: no Content-Length, none of the fields after the connection lines. */
static char *unchanged(char *p, const response *a, const response_clock *clock,
                       const char *lines, size_t len)
{
    size_t at = DATE_AT + RESPONSE_DATE;
    size_t after = a->length_line + a->length_line_len;

    p = start(p, a, UNCHANGED, UNCHANGED_LEN, clock);
    p = put(p, a->head + at, a->length_line - at);
    p = put(p, a->head + after, a->slot - after);
    p = put(p, lines, len);
    return PUT(p, "\r\n");
}

int response_make(const response *a, const request *req, const char *head,
                  const response_clock *clock, const response_connection *conn,
                  char *buf, size_t size, response_reply *reply)
{
    response_cond_result what = RESPONSE_COND_WHOLE;
    int64_t first = 0, last = a->size - 1;
    size_t date = DATE_AT + RESPONSE_DATE;
    connection says;
    char *end;

    if (size < (size_t)a->head_len + RESPONSE_EXTRA
        || (a->modified >= 0
            && clock->seconds - a->modified < RESPONSE_SETTLED)) {
        return -1;
    }
    if (req->present & RESPONSE_COND_FIELDS) {
        what = response_cond_judge(a, req, head, clock->seconds, &first, &last);
    }
    if (what == RESPONSE_COND_DECLINE) {
        return -1;
    }
    connection_says(a, req, conn, &says, reply);
    reply->body_off = 0;
    reply->body_len = req->head_only ? 0 : a->size;
    switch (what) {
    case RESPONSE_COND_PART:
        reply->status = 206;
        reply->body_off = first;
        reply->body_len = req->head_only ? 0 : last - first + 1;
        date += PART_LEN - OK_LINE_LEN;
        end = part(buf, a, clock, says.lines, says.len, first, last);
        break;
    case RESPONSE_COND_UNCHANGED:
        reply->status = 304;
        reply->body_len = 0;
        date += UNCHANGED_LEN - OK_LINE_LEN;
        end = unchanged(buf, a, clock, says.lines, says.len);
        break;
    default:
        reply->status = 200;
        end = whole(buf, a, req, clock, says.lines, says.len);
        break;
    }
    if (a->announce) {
        end = announce(buf + date, end, a, says.token);
    }
    reply->head_len = (size_t)(end - buf);
    reply->content = response_is_encoded(a) && reply->body_len
                         ? a->content
                         : reply->body_len;
    return 0;
}

int response_is_exact(const response *a, const request *req, const char *head,
                      const response_connection *conn, const char *sent,
                      size_t sent_len)
{
    char buf[RESPONSE_HEAD + RESPONSE_EXTRA];
    response_clock clock;
    response_reply reply;

    if (sent_len < DATE_AT + RESPONSE_DATE) {
        return 0;
    }
    response_clock_set(&clock, httpdate_parse(sent + DATE_AT, RESPONSE_DATE));
    return clock.seconds >= 0
           && !response_make(a, req, head, &clock, conn, buf, sizeof(buf),
                             &reply)
           && reply.head_len == sent_len && !memcmp(buf, sent, sent_len);
}

void response_clock_set(response_clock *clock, int64_t seconds)
{
    clock->seconds = seconds;
    if (seconds >= 0) {
        httpdate_format(clock->date, seconds);
    }
}
