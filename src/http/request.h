/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request: recognises the small grammar of requests that the static loop may
 * answer. Not a parser: it says mine, not mine or incomplete, and "not mine"
 * is httpd's, whatever it is. Stateless, allocation-free, one pass; no byte
 * past the length given is read. Any thread. No httpd header is needed.
 */
#ifndef CPUAFFINITY_REQUEST_H
#define CPUAFFINITY_REQUEST_H

#include "http/request_field.h"
#include "http/request_why.h"

#include <stddef.h>
#include <stdint.h>

/* A head longer than this, final empty line included, is not mine. */
#define REQUEST_HEAD 8000
/* A key made by request_key() is never longer. */
#define REQUEST_KEY 1024
/* What each part of a key has in front, its length. */
#define REQUEST_KEY_PART 2

/* Bytes of the head: offset from its first byte, and length. */
typedef struct request_slice {
    uint16_t off;
    uint16_t len;
} request_slice;

typedef enum request_verdict {
    REQUEST_MINE,
    REQUEST_NOT_MINE,  /* httpd's; more bytes never change that */
    REQUEST_INCOMPLETE /* all bytes so far may become mine */
} request_verdict;

/* httpd's limits (LimitRequestLine, LimitRequestFields,
 * LimitRequestFieldSize, the smallest of the vhosts behind the address); what
 * exceeds one is not mine. As in httpd 0 fields is no limit, but a line or a
 * field size of 0 refuses everything. */
typedef struct request_limits {
    unsigned line;
    unsigned fields;
    unsigned fieldsize;
} request_limits;

/* A request that is mine. Slices count from the head's first byte. */
typedef struct request {
    uint16_t consumed;     /* length of the head, its empty line included */
    uint8_t head_only;     /* HEAD */
    uint8_t minor;         /* HTTP/1.minor: 0 or 1 */
    uint8_t close;         /* Connection has the token "close" */
    uint8_t keep_alive;    /* Connection has the token "keep-alive" */
    uint8_t fields;        /* number of header fields, inert ones too */
    uint8_t why;           /* not mine only: a request_why */
    uint64_t present;      /* bit id: header[id] is valid, else undefined */
    uint64_t twice;        /* bit id: it came again; header[id] is the last */
    request_slice line;    /* request line without its line end */
    request_slice target;  /* path with query, raw */
    request_slice path;    /* path without the query, raw */
    request_slice culprit; /* not mine only: the name of a field, or empty */
    request_slice header[REQUEST_ID_LIMIT]; /* trimmed */
} request;

/* 1 when it asks for all of the file, whatever the client may have of it. */
static inline int request_is_whole(const request *req)
{
    const uint64_t less = (uint64_t)1 << REQUEST_RANGE
                          | (uint64_t)1 << REQUEST_IF_RANGE
                          | (uint64_t)1 << REQUEST_IF_NONE_MATCH
                          | (uint64_t)1 << REQUEST_IF_MODIFIED_SINCE
                          | (uint64_t)1 << REQUEST_IF_UNMODIFIED_SINCE;

    return !req->head_only && !(req->present & less);
}

/*
 * Looks at the @a len bytes at @a head, the first of which starts a request.
 * @param limits may be NULL: no limits
 * @param req undefined unless the verdict is REQUEST_MINE; why and culprit
 *        tell why it is REQUEST_NOT_MINE
 * Every proper prefix of the head of a request that is mine is incomplete;
 * whatever follows the head does not change the verdict.
 */
request_verdict request_recognise(const char *head, size_t len,
                                  const request_limits *limits, request *req);

/* 1 when the field is there (an empty value counts). */
static inline int request_has(const request *req, unsigned id)
{
    return (int)(req->present >> id & 1);
}

/*
 * The cache key of R0 (docs/security.md): whatever may change httpd's answer
 * and is not looked at request by request. The method, Connection, conditionals
 * and ranges are not in it: answer derives those.
 * @param head the bytes that @a req was recognised in
 * @param local opaque bytes of the local address and port, at most 255; none
 *        stand for an address that is not known
 * @param first 1 for the first request of a connection
 * @param vary bits of the fields whose values belong to the key (the loop
 *        keeps one mask: Accept-Encoding and whatever a learned Vary named)
 * @param base receives the length of the key of the same request without its
 *        query, with which @a key begins; 0: there is none
 * @return the key's length, or 0: it would exceed REQUEST_KEY (with @a base not
 *         0: by its query), the address is not known, or a field of @a vary
 *         came twice
 */
size_t request_key(const request *req, const char *head, const void *local,
                   size_t local_len, int first, uint64_t vary,
                   unsigned char key[REQUEST_KEY], size_t *base);

/* The same base of a key of @a len bytes that was made of @a req. */
static inline size_t request_key_base(const request *req, size_t len)
{
    const size_t query = (size_t)req->target.len - req->path.len;

    return query ? len - query - REQUEST_KEY_PART : len;
}

#endif
