/* SPDX-License-Identifier: Apache-2.0 */
#include "http/response.h"

#include "http/put.h"
#include "http/response_304.h"
#include "http/response_cond.h"
#include "http/response_lines.h"
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

_Static_assert(RESPONSE_DATE == HTTPDATE_LEN, "one format of dates");

/* The head up to and including the Date, for a status line. */
static char *start(char *p, const response *a, const char *status, size_t len,
                   const response_clock *clock)
{
    p = put(p, status, len);
    p = put(p, a->head + OK_LINE_LEN, DATE_AT - OK_LINE_LEN);
    return put(p, clock->date, RESPONSE_DATE);
}

/* Has the answer to a HEAD no Content-Length? That of an empty file or of a
 * message loses it in httpd. */
static int loses_length(const response *a, const request *req)
{
    return req->head_only
           && (a->message || (a->size == 0 && !response_is_encoded(a)));
}

/* 200, or a message. HEAD of a body in chunks loses its Transfer-Encoding,
 * which follows the connection lines. */
static char *whole(char *p, const response *a, const request *req,
                   const response_clock *clock, const char *lines, size_t len)
{
    char *date = p + a->date_at;
    size_t after = a->length_line + a->length_line_len, tail = a->slot;

    if (req->head_only && a->framing == RESPONSE_FRAMING_CHUNKED) {
        tail = after;
        p = put(p, a->head, a->slot);
    }
    else if (loses_length(a, req)) {
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

/* httpd's own 304, where the 200 does not show it. */
static int captured(const response *a, const request *req,
                    const response_clock *clock,
                    const response_connection *conn, char *buf,
                    response_reply *reply)
{
    response_lines says;

    if (!a->unchanged || clock->now >= a->unchanged->until) {
        return req->head_only ? -1 : RESPONSE_ASK_304;
    }
    response_lines_say(req, conn, a->unchanged->announce != 0, 1, &says);
    reply->status = 304;
    reply->keepalive = says.keepalive;
    reply->keepalives = says.keepalives;
    reply->body_off = reply->body_len = reply->content = 0;
    reply->head_len = response_304_make(a->unchanged, clock, &says, buf);
    return 0;
}

/*
 * A head has been made: what moves in it, other than Date, is put right.
 * @param n the length of a part
 * @return its end, which was @a end
 */
static char *move(const response *a, const request *req,
                  response_cond_result what, int64_t n,
                  const response_clock *clock, const response_lines *says,
                  char *buf, char *end)
{
    const size_t at = (size_t)a->date_at + RESPONSE_DATE;
    char *date = buf + at;
    char digits[20];
    size_t line = 0; /* what Content-Length has lost, which may be negative */

    if (what == RESPONSE_COND_PART) {
        date += PART_LEN - OK_LINE_LEN;
        line = a->length_len - (size_t)(put_number(digits, n) - digits);
    }
    else if (what == RESPONSE_COND_UNCHANGED) {
        date += UNCHANGED_LEN - OK_LINE_LEN;
        line = a->length_line_len;
    }
    else if (loses_length(a, req) && a->expires > a->length_line) {
        line = a->length_line_len;
    }
    if (a->expires) {
        httpdate_format(date + a->expires - at - line,
                        clock->seconds + a->lifetime);
    }
    return a->announce
               ? response_lines_announce(date + a->announce - at, end, says)
               : end;
}

/* Was the clock set back to where the file had not settled, or, as its fields
 * may follow from the time, where nobody has seen them? A file's Expires that
 * is over looks like one that moves with Date. */
static int is_before(const response *a, int64_t now)
{
    return (a->modified >= 0 && now - a->modified < RESPONSE_SETTLED)
           || (a->clocked && now < a->date);
}

int response_make(const response *a, const request *req, const char *head,
                  const response_clock *clock, const response_connection *conn,
                  char *buf, size_t size, response_reply *reply)
{
    response_cond_result what = RESPONSE_COND_WHOLE;
    int64_t first = 0, last = a->size - 1;
    response_lines says;
    char *end;

    if (size < (size_t)a->head_len + RESPONSE_EXTRA
        || is_before(a, clock->seconds)) {
        return -1;
    }
    if (req->present & RESPONSE_COND_FIELDS && !a->message) {
        what = response_cond_judge(a, req, head, clock->seconds, &first, &last);
    }
    if (what == RESPONSE_COND_DECLINE) {
        return -1;
    }
    if (what == RESPONSE_COND_UNCHANGED && (a->no_304 || a->plain)) {
        return captured(a, req, clock, conn, buf, reply);
    }
    response_lines_say(req, conn, a->announce != 0,
                       a->framing != RESPONSE_FRAMING_CLOSE || req->head_only,
                       &says);
    reply->keepalive = says.keepalive;
    reply->keepalives = says.keepalives;
    reply->body_off = 0;
    reply->body_len = req->head_only ? 0 : a->size;
    switch (what) {
    case RESPONSE_COND_PART:
        reply->status = 206;
        reply->body_off = first;
        reply->body_len = req->head_only ? 0 : last - first + 1;
        end = part(buf, a, clock, says.text, says.len, first, last);
        break;
    case RESPONSE_COND_UNCHANGED:
        reply->status = 304;
        reply->body_len = 0;
        end = unchanged(buf, a, clock, says.text, says.len);
        break;
    default:
        reply->status = a->status;
        end = whole(buf, a, req, clock, says.text, says.len);
        break;
    }
    if (a->moving) {
        end = move(a, req, what, last - first + 1, clock, &says, buf, end);
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
    response_clock clock = {.now = 0};
    response_reply reply;

    if (sent_len < (size_t)a->date_at + RESPONSE_DATE) {
        return 0;
    }
    response_clock_set(&clock,
                       httpdate_parse(sent + a->date_at, RESPONSE_DATE));
    return clock.seconds >= 0
           && !response_make(a, req, head, &clock, conn, buf, sizeof(buf),
                             &reply)
           && reply.head_len == sent_len && !memcmp(buf, sent, sent_len);
}

int response_may_have(const response *a, const response_304 *u)
{
    return (a->no_304 || a->plain) && u->base.known && a->clocked == u->clocked
           && a->lifetime == u->lifetime && !a->expires == !u->expires
           && !memcmp(&a->base, &u->base, sizeof(a->base))
           && u->head_len + RESPONSE_LINES <= a->head_len + RESPONSE_EXTRA;
}

int response_base_is_met(const response_base *base, const request *req,
                         const char *head, int64_t now)
{
    response a = {.head = "", .plain = 1, .base = *base};
    int64_t first, last;

    return req->present & RESPONSE_COND_FIELDS
           && !request_has(req, REQUEST_RANGE)
           && response_cond_judge(&a, req, head, now, &first, &last)
                  == RESPONSE_COND_UNCHANGED;
}

void response_clock_set(response_clock *clock, int64_t seconds)
{
    clock->seconds = seconds;
    if (seconds >= 0) {
        httpdate_format(clock->date, seconds);
    }
}
