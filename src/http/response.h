/* SPDX-License-Identifier: Apache-2.0 */
/*
 * response: from one captured 200 of httpd, the bytes that httpd would send
 * for another request of the same key: 200, 304, 206, HEAD, with its own
 * Date and Connection fields. Where that is not provable the result is
 * "decline" and httpd answers. Pure, no allocation, any thread; no httpd
 * header is needed.
 */
#ifndef CPUAFFINITY_RESPONSE_H
#define CPUAFFINITY_RESPONSE_H

#include <stddef.h>
#include <stdint.h>

#include "http/request.h"
#include "http/response_data.h"

/* The longest text of environment variables that goes with it. */
#define RESPONSE_ENV 512
/* How much longer a reply's head may be than the captured one. */
#define RESPONSE_EXTRA 192

/* A file younger than this (seconds) has a weak ETag, which httpd makes strong
 * later, and one dated in the future has a Last-Modified that moves: neither is
 * learned, nor repeated when the clock has been set back to such a time. */
#define RESPONSE_SETTLED 2

/* Of response_learn: ranges of this answer are httpd's, and conditional
 * requests until it has given a 304 (MaxRanges is set, or ETag or Last-Modified
 * are not the computed ones: R7). */
#define RESPONSE_PLAIN 1u
/* Of response_learn: a compressing filter (DEFLATE, BROTLI_COMPRESS, BYTYPE of
 * them) was in the chain and passed the file on. It names Accept-Encoding in
 * Vary, but not in a 304, so that of an answer with Vary is a captured one. */
#define RESPONSE_FILTERED 2u
/* Of response_learn: mod_expires had a say, which reads the clock. Its Expires
 * moves with Date, or the answer never agrees with another one: cache then
 * wants two from different seconds (R7, docs/pitfalls.md 22). */
#define RESPONSE_CLOCKED 4u
/* Of response_learn: a filter compressed the answer, and what is repeated is
 * the body as it was sent. Ranges of it are httpd's; its 304 is captured. */
#define RESPONSE_ENCODED 8u
/* Of response_learn: no file, but a redirect or an error (301, 302, 303, 307,
 * 308, 404, 410) whose body httpd wrote itself. It is encoded as far as the
 * body is concerned; conditions and ranges do not matter, and HEAD has no
 * Content-Length. */
#define RESPONSE_MESSAGE 16u
#define RESPONSE_FLAGS 31u

/* What to send. */
typedef struct response_reply {
    int status;       /* 200, 206, 304, or a message's */
    int keepalive;    /* 1: the connection stays open afterwards */
    int keepalives;   /* c->keepalives afterwards */
    size_t head_len;  /* bytes written to the caller's buffer */
    int64_t body_off; /* which part of the file follows the head; */
    int64_t body_len; /* 0 for HEAD and 304 */
    int64_t content;  /* the same without chunks (this is %B) */
} response_reply;

/* What a constant "Header" directive on a field means for answers. */
typedef enum response_field {
    RESPONSE_FIELD_FREE,  /* repeated as it is */
    RESPONSE_FIELD_PLAIN, /* learn with RESPONSE_PLAIN */
    RESPONSE_FIELD_NEVER  /* do not learn: its place or value is httpd's, and
                         * the 200 does not show what a 304 would have */
} response_field;

/* Looks a field name up, in any case. For judging mod_headers' directives. */
response_field response_field_use(const char *name);

/*
 * Takes a captured head apart.
 * @param head the bytes of a 200 (or of a message) from "HTTP/1.1" to the
 *        empty line, as httpd sent them, for a file of @a size bytes
 *        (RESPONSE_ENCODED, RESPONSE_MESSAGE: of a body of so many bytes, as it
 *        was sent, or -1 before that is known)
 * @param copy receives what is kept of it, at least @a len bytes; a->head
 *        points there
 * @param flags RESPONSE_PLAIN and so on, or 0
 * @param error on failure why it must not be repeated (static text)
 * @return 0 or -1
 */
int response_learn(response *a, const char *head, size_t len, int64_t size,
                   unsigned flags, char *copy, const char **error);

/* The flags that response_learn() was given, as far as they matter. */
unsigned response_flags(const response *a);

/*
 * Tells an encoded answer what its body is.
 * @param body the whole body as it was sent, @a len bytes
 * @param digest of it
 * @return 0, or -1: not what the head says, or not framed as httpd does
 */
int response_set_body(response *a, const char *body, size_t len,
                      const uint64_t digest[2]);

/*
 * The first test of a learned answer: 1 when response_make() gives for the
 * very request that httpd answered, at the second of its Date, the very
 * bytes that httpd sent. Whoever learns calls it.
 * What it cannot see, the learner must refuse, because another request of
 * the same key would show it: nokeepalive, downgrade-1.0, force-response-1.0
 * or force-no-vary in r->subprocess_env when the head is captured.
 * @param req, head the request; without ranges and conditions
 * @param conn as it was before that request
 * @param sent, sent_len the captured head
 */
int response_is_exact(const response *a, const request *req, const char *head,
                      const response_connection *conn, const char *sent,
                      size_t sent_len);

/* Makes @a a copy of @a from; its response_bytes() go to @a copy. */
void response_copy(response *a, const response *from, char *copy);

/* 1 when two captured answers agree, Date and connection lines aside, and the
 * environment that goes with them; of an encoded one the body's digest, too. */
int response_is_same(const response *a, const response *b);

/* 1 when two encoded ones agree but for the body: so they do when the file's
 * bytes have changed and nothing else of it has. */
int response_is_alike(const response *a, const response *b);

/*
 * 1 when so much time lies between two captured answers that something that
 * moves with the clock would have moved: with Expires in them a second by
 * Date; without it two, as max-age counts from a fraction of a second. Always 1
 * when they are not clocked.
 */
int response_is_later(const response *a, const response *b);

/*
 * Derives the reply.
 * @param req a request that is mine, recognised in @a head
 * @param buf receives the reply's head
 * @param size of @a buf; a->head_len + RESPONSE_EXTRA always suffices
 * @return 0 with @a reply and @a buf filled, or -1: decline, let httpd
 *         answer (also when @a buf is too small, or when the clock shows a
 *         time at which the file was not settled); or RESPONSE_ASK_304
 */
int response_make(const response *a, const request *req, const char *head,
                  const response_clock *clock, const response_connection *conn,
                  char *buf, size_t size, response_reply *reply);

/* Of response_make: httpd would answer a GET with 304, and how that looks is
 * not known, or was long ago. Decline, and learn from httpd's answer. */
#define RESPONSE_ASK_304 1

/* 1 when a->unchanged may become @a u: it is wanted, was made by the same
 * validators, and is not longer than response_make() has room for. */
int response_may_have(const response *a, const response_304 *u);

/* 1 when httpd would answer the request with a 304 by the validators @a base,
 * at @a now seconds since 1970, and no range of it is asked for. */
int response_base_is_met(const response_base *base, const request *req,
                         const char *head, int64_t now);

/* Makes @a clock show @a seconds since 1970. Not on the hot path: once per
 * second. */
void response_clock_set(response_clock *clock, int64_t seconds);

#endif
