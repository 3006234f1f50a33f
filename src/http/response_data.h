/* SPDX-License-Identifier: Apache-2.0 */
/*
 * response_data: an answer as response_learn() takes it apart. Plain data;
 * no httpd header is needed.
 */
#ifndef CPUAFFINITY_RESPONSE_DATA_H
#define CPUAFFINITY_RESPONSE_DATA_H

#include <stdint.h>

/* The captured head, taken apart. Plain data but for @a head. */
typedef struct response {
    const char *head;  /* the captured head without its Connection and
                           * Keep-Alive lines; not owned */
    uint16_t head_len; /* including the empty line */
    uint16_t slot; /* where the connection lines belong, then content fields */
    uint16_t length_at; /* the digits of Content-Length */
    uint16_t length_len;
    uint16_t length_line; /* the line of Content-Length, its end included */
    uint16_t length_line_len;
    uint16_t etag; /* value; length 0 when absent */
    uint16_t etag_len;
    uint16_t announce; /* where "Connection: Upgrade" is gone on with, between
                        * Date and Content-Length; 0: it is not there */
    uint8_t plain;    /* RESPONSE_PLAIN */
    uint8_t clocked;  /* RESPONSE_CLOCKED */
    uint8_t no_304;   /* httpd's 304 cannot be told from the 200 */
    uint8_t no_range; /* no "Accept-Ranges: bytes" */
    int64_t date;     /* its own Date, seconds since 1970 */
    int64_t size;     /* of the file */
    int64_t modified; /* Last-Modified, seconds since 1970, or -1 */
} response;

#endif
