/* SPDX-License-Identifier: Apache-2.0 */
/*
 * response_data: an answer as response_learn() takes it apart. Plain data;
 * no httpd header is needed.
 */
#ifndef CPUAFFINITY_RESPONSE_DATA_H
#define CPUAFFINITY_RESPONSE_DATA_H

#include <stdint.h>

/* How the end of a body is told. */
typedef enum response_framing {
    RESPONSE_FRAMING_FILE,    /* Content-Length; the body is the file */
    RESPONSE_FRAMING_LENGTH,  /* encoded: Content-Length */
    RESPONSE_FRAMING_CHUNKED, /* encoded: the body has chunks */
    RESPONSE_FRAMING_CLOSE    /* encoded: by the end of the connection */
} response_framing;

/* The captured head, taken apart. Plain data but for @a head. */
typedef struct response {
    const char *head;  /* the captured head without its Connection and
                           * Keep-Alive lines; not owned */
    uint16_t head_len; /* including the empty line */
    uint16_t env_len;
    const char *env; /* environment variables that a log shows: name, NUL,
                      * value, NUL each; not owned */
    uint16_t slot; /* where the connection lines belong, then content fields */
    uint16_t length_at; /* the digits of Content-Length */
    uint16_t length_len;
    uint16_t length_line; /* the line of Content-Length, or of
                             Transfer-Encoding, its end included */
    uint16_t length_line_len;
    uint16_t etag; /* value; length 0 when absent */
    uint16_t etag_len;
    uint16_t announce;  /* where "Connection: Upgrade" is gone on with, between
                        * Date and Content-Length; 0: it is not there */
    uint8_t etag_cut;   /* bytes before its last quote that a filter added */
    uint8_t framing;    /* response_framing */
    uint8_t plain;      /* RESPONSE_PLAIN */
    uint8_t clocked;    /* RESPONSE_CLOCKED */
    uint8_t no_304;     /* httpd's 304 cannot be told from the 200 */
    uint8_t no_range;   /* no "Accept-Ranges: bytes" */
    int64_t date;       /* its own Date, seconds since 1970 */
    int64_t size;       /* of the file; encoded: of the body as it is sent */
    int64_t content;    /* the same without chunks */
    uint64_t digest[2]; /* encoded: of the body, keyed; else 0 */
    int64_t modified;   /* Last-Modified, seconds since 1970, or -1 */
} response;

/* What a copy of it needs besides: head and environment. */
static inline unsigned response_bytes(const response *a)
{
    return (unsigned)a->head_len + a->env_len;
}

/* Does a filter's output follow the head, and not the file? */
static inline int response_is_encoded(const response *a)
{
    return a->framing != RESPONSE_FRAMING_FILE;
}

#endif
