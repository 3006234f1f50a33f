/* SPDX-License-Identifier: Apache-2.0 */
#include "http/response_cond.h"

#include "base/httpdate.h"

#include <string.h>
#include <strings.h>

/* A validator made of seconds is strong once it is older than this. */
#define STRONG_AFTER 60
/* More digits may overflow; they are httpd's. */
#define DIGITS 18

/* What a condition said. */
enum match {
    NO,
    YES,
    ODD
};

/* One value. */
typedef struct text {
    const char *p;
    size_t len;
} text;

static text value_of(const request *req, const char *head, unsigned id)
{
    return (text){head + req->header[id].off, req->header[id].len};
}

/* Length of an entity tag's quoted part at @a p: plain characters without
 * quote, backslash, parentheses (httpd's list parser treats those) or
 * space. 0: not one. */
static size_t quoted(const char *p, const char *end)
{
    const char *from = p;

    if (p == end || *p++ != '"') {
        return 0;
    }
    while (p<end && * p> ' ' && *p < 0x7f && *p != '"' && *p != '\\'
           && *p != '(' && *p != ')') {
        p++;
    }
    return p < end && *p == '"' ? (size_t)(p + 1 - from) : 0;
}

static int weak(const char *p, const char *end)
{
    return end - p > 2 && p[0] == 'W' && p[1] == '/';
}

/*
 * httpd's search in If-None-Match: the first item that is the tag decides;
 * by the strong rule (a Range is there) a weak tag in the list ends the
 * search. Lists are judged only up to there, but must be clean so far.
 */
static enum match etag_in(text list, text tag, int strong)
{
    const char *p = list.p, *end = list.p + list.len;
    int tag_weak = weak(tag.p, tag.p + tag.len);

    tag.p += tag_weak * 2;
    tag.len -= (size_t)tag_weak * 2;
    if (quoted(tag.p, tag.p + tag.len) != tag.len) {
        return ODD;
    }
    for (;;) {
        int item_weak = weak(p, end);
        size_t len = quoted(p + 2 * item_weak, end);

        if (len == 0) {
            return ODD;
        }
        if (strong && (item_weak || tag_weak)) {
            return NO;
        }
        p += 2 * item_weak;
        if (len == tag.len && !memcmp(p, tag.p, len)) {
            p += len;
            /* what follows a tag belongs to its item */
            while (p < end && *p == ' ') {
                p++;
            }
            return p == end || *p == ',' ? YES : ODD;
        }
        p += len;
        while (p < end && *p == ' ') {
            p++;
        }
        if (p == end) {
            return NO;
        }
        if (*p++ != ',') {
            return ODD;
        }
        while (p < end && *p == ' ') {
            p++;
        }
    }
}

/* Is the tag that httpd judges by another than the one that it sends, or may it
 * be? A filter's output has a tag of its own. */
static int is_by_base(const response *a)
{
    return a->plain || response_is_encoded(a);
}

static enum match none_match(const response *a, const request *req,
                             const char *head)
{
    text list = value_of(req, head, REQUEST_IF_NONE_MATCH);
    text tag = {a->head + a->etag, a->etag_len};

    if (is_by_base(a)) {
        tag = (text){a->base.tag, a->base.tag_len};
    }
    if (list.len && *list.p == '*') {
        return YES;
    }
    return tag.len ? etag_in(list, tag, request_has(req, REQUEST_RANGE)) : NO;
}

/* The seconds of a date, or -1. Also -1 for the first second of 1970: httpd's
 * parser returns 0 for what is not a date, so a file of that time is left to
 * httpd. */
static int64_t date_of(text value)
{
    int64_t date = httpdate_parse(value.p, value.len);

    return date > 0 ? date : -1;
}

static enum match modified_since(const response *a, const request *req,
                                 const char *head, int64_t now)
{
    text value = value_of(req, head, REQUEST_IF_MODIFIED_SINCE);
    int64_t since = date_of(value);
    int64_t modified = a->plain ? a->base.modified : a->modified;

    if (since < 0 || modified <= 0) {
        return ODD;
    }
    if (since < modified || since > now) {
        return NO; /* changed, or a date in the future: not valid */
    }
    /* within the minute it is a weak validator: not for ranges */
    return now < modified + STRONG_AFTER && request_has(req, REQUEST_RANGE)
               ? NO
               : YES;
}

/* If-Unmodified-Since alone, and without a change since then: as if it were
 * not there. Else 412 is httpd's to say, what it makes of odd dates, and of
 * other conditions beside it: it does not look at them. */
static int is_unmodified(const response *a, const request *req,
                         const char *head)
{
    const uint64_t others = (uint64_t)1 << REQUEST_IF_NONE_MATCH
                            | (uint64_t)1 << REQUEST_IF_MODIFIED_SINCE
                            | (uint64_t)1 << REQUEST_IF_RANGE;

    return !(req->present & others) && a->modified > 0
           && date_of(value_of(req, head, REQUEST_IF_UNMODIFIED_SINCE))
                  >= a->modified;
}

/* If-Range wants the strong validator itself; anything else means the whole
 * file. */
static enum match if_range(const response *a, const request *req,
                           const char *head, int64_t now)
{
    text value = value_of(req, head, REQUEST_IF_RANGE);
    int64_t date;

    if (value.len == 0) {
        return ODD;
    }
    if (*value.p == '"') {
        return value.len == a->etag_len
                       && !memcmp(value.p, a->head + a->etag, value.len)
                   ? YES
                   : NO;
    }
    if (weak(value.p, value.p + value.len)) {
        return memchr(value.p, ' ', value.len) ? ODD : NO;
    }
    date = date_of(value);
    if (date < 0 || a->modified <= 0) {
        return ODD;
    }
    return date == a->modified && now >= a->modified + STRONG_AFTER ? YES : NO;
}

/* Digits at *p, at least one. @return the number, or -1 */
static int64_t digits(const char **p, const char *end)
{
    const char *from = *p;
    int64_t v = 0;

    while (*p < end && **p >= '0' && **p <= '9') {
        if (*p - from == DIGITS) {
            return -1;
        }
        v = v * 10 + *(*p)++ - '0';
    }
    return *p > from ? v : -1;
}

/* One range: "0-9", "9-", "-9". */
static response_cond_result range(const response *a, text value, int64_t *first,
                                  int64_t *last)
{
    const char *p = value.p + 6, *end = value.p + value.len;
    int suffix, open;

    if (value.len < 6 || strncasecmp(value.p, "bytes=", 6) != 0) {
        return RESPONSE_COND_WHOLE; /* another unit: ignored */
    }
    if (a->no_range) {
        return RESPONSE_COND_DECLINE;
    }
    suffix = p < end && *p == '-';
    *first = suffix ? 0 : digits(&p, end);
    if (*first < 0 || p == end || *p++ != '-') {
        return RESPONSE_COND_DECLINE;
    }
    open = p == end;
    *last = open ? a->size - 1 : digits(&p, end);
    if (p != end || (open && suffix) || *last < 0) {
        /* several ranges, odd syntax, or an open one in an empty file */
        return a->size == 0 && open && !suffix ? RESPONSE_COND_WHOLE
                                               : RESPONSE_COND_DECLINE;
    }
    if (suffix ? *last == 0 : !open && *first > *last) {
        return RESPONSE_COND_WHOLE; /* invalid: ignored */
    }
    if (a->size == 0) {
        return RESPONSE_COND_WHOLE;
    }
    if (suffix) {
        *first = *last < a->size ? a->size - *last : 0;
        *last = a->size - 1;
    }
    if (*first >= a->size) {
        return RESPONSE_COND_DECLINE; /* 416 */
    }
    if (*last >= a->size) {
        *last = a->size - 1;
    }
    return RESPONSE_COND_PART;
}

response_cond_result response_cond_judge(const response *a, const request *req,
                                         const char *head, int64_t now,
                                         int64_t *first, int64_t *last)
{
    enum match none = YES, since = YES, in = YES;
    int has_none = request_has(req, REQUEST_IF_NONE_MATCH);
    int has_since = request_has(req, REQUEST_IF_MODIFIED_SINCE);
    int has_range = request_has(req, REQUEST_RANGE);
    int has_if_range = has_range && request_has(req, REQUEST_IF_RANGE);

    if ((is_by_base(a) && (has_range || !a->base.known))
        || (request_has(req, REQUEST_IF_UNMODIFIED_SINCE)
            && (a->plain || !is_unmodified(a, req, head)))) {
        return RESPONSE_COND_DECLINE;
    }
    if (has_none) {
        none = none_match(a, req, head);
    }
    if (has_since) {
        since = modified_since(a, req, head, now);
    }
    if (has_if_range) {
        in = if_range(a, req, head, now);
    }
    if (none == ODD || since == ODD || in == ODD) {
        return RESPONSE_COND_DECLINE;
    }
    /* of several conditions all must hold; If-Range overrides them */
    if ((has_none || has_since) && none == YES && since == YES
        && !has_if_range) {
        return RESPONSE_COND_UNCHANGED;
    }
    if (!has_range || in == NO) {
        /* its 304 shows that httpd judges by the same */
        return a->plain && !a->unchanged ? RESPONSE_COND_DECLINE
                                         : RESPONSE_COND_WHOLE;
    }
    return range(a, value_of(req, head, REQUEST_RANGE), first, last);
}
