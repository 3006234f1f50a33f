/* SPDX-License-Identifier: Apache-2.0 */
/*
 * response_data: an answer as response_learn() takes it apart. Plain data;
 * no httpd header is needed.
 */
#ifndef CPUAFFINITY_RESPONSE_DATA_H
#define CPUAFFINITY_RESPONSE_DATA_H

#include <stdint.h>

/* The longest captured head that is learned. */
#define RESPONSE_HEAD 4096
/* Length of "Sun, 06 Nov 1994 08:49:37 GMT". */
#define RESPONSE_DATE 29
/* The longest tag of a response_base. */
#define RESPONSE_TAG 70

/* The second in which requests are answered. The caller keeps it current. */
typedef struct response_clock {
    int64_t seconds;          /* since 1970: httpd's r->request_time */
    int64_t now;              /* milliseconds of a monotonic clock */
    char date[RESPONSE_DATE]; /* of that second, not terminated */
} response_clock;

/* What ap_set_keepalive looks at besides the request. */
typedef struct response_connection {
    int keepalives;  /* c->keepalives before this request */
    int keep_alive;  /* KeepAlive: 1 on, 0 off */
    int max;         /* MaxKeepAliveRequests; 0: no limit */
    int64_t timeout; /* KeepAliveTimeout in microseconds */
    int stopping;    /* the MPM is stopping */
} response_connection;

/* What httpd judges conditions by: as it was before any filter, and whatever
 * mod_headers put into the answer. No padding: compared as bytes. */
typedef struct response_base {
    int64_t modified; /* the file's second since 1970; not above 0: none */
    uint8_t known;    /* 0: the rest is not */
    uint8_t tag_len;  /* 0: no ETag */
    char tag[RESPONSE_TAG]; /* NULs behind it */
} response_base;

/* A 304 that httpd gave for the same key. */
typedef struct response_304 {
    const char *head;   /* without its Connection and Keep-Alive lines; not
                         * owned */
    uint16_t head_len;  /* including the empty line */
    uint16_t announce;  /* as in response */
    int64_t date;       /* its own Date, seconds since 1970 */
    int64_t lifetime;   /* expires: Expires - Date, seconds */
    uint16_t expires;   /* as in response */
    uint8_t clocked;    /* RESPONSE_CLOCKED */
    int64_t until;      /* of response_clock's now: then it is too old */
    response_base base; /* by which it was made */
} response_304;

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
    uint16_t expires;   /* the date in Expires, which moves with the clock,
                         * between Content-Length and slot; 0: none does */
    uint8_t moving;     /* announce or expires */
    uint8_t framing;    /* response_framing */
    uint8_t plain;      /* RESPONSE_PLAIN */
    uint8_t clocked;    /* RESPONSE_CLOCKED */
    uint8_t message;    /* RESPONSE_MESSAGE */
    uint8_t date_at;    /* where its Date is */
    uint16_t status;    /* 200, or a message's */
    uint8_t no_304;     /* httpd's 304 cannot be told from the 200 */
    uint8_t no_range;   /* no "Accept-Ranges: bytes" */
    int64_t date;       /* its own Date, seconds since 1970 */
    int64_t size;       /* of the file; encoded: of the body as it is sent */
    int64_t content;    /* the same without chunks */
    uint64_t digest[2]; /* encoded: of the body, keyed; else 0 */
    int64_t lifetime;   /* expires: Expires - Date, seconds, not negative */
    int64_t modified;   /* Last-Modified, seconds since 1970, or -1 */
    response_base base;
    const response_304 *unchanged; /* httpd's own, where the 200 does not show
                                    * it; NULL: not yet. Not owned */
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
