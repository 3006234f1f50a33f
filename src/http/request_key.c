/* SPDX-License-Identifier: Apache-2.0 */
#include "http/request.h"

#include <string.h>

typedef struct key {
    unsigned char *p;
    unsigned char *end;
} key;

/* Appends; every part is preceded by its length, so that no two different
 * requests have the same key. @return 0 when there is no room */
static int put(key *k, const void *bytes, size_t len)
{
    if ((size_t)(k->end - k->p) < len + 2) {
        return 0;
    }
    *k->p++ = (unsigned char)(len >> 8);
    *k->p++ = (unsigned char)len;
    memcpy(k->p, bytes, len);
    k->p += len;
    return 1;
}

/* The value of a field, absent and empty kept apart. */
static int put_field(key *k, const request *req, const char *head, unsigned id)
{
    if (!request_has(req, id)) {
        if (k->p == k->end) {
            return 0;
        }
        *k->p++ = 0xff; /* no length starts with this byte */
        return 1;
    }
    return put(k, head + req->header[id].off, req->header[id].len);
}

size_t request_key(const request *req, const char *head, const void *local,
                   size_t local_len, int first, uint64_t vary,
                   unsigned char out[REQUEST_KEY], size_t *base)
{
    const size_t query = (size_t)req->target.len - req->path.len;
    key k = {out, out + REQUEST_KEY};
    uint64_t rest;

    *base = 0;
    *k.p++ = (unsigned char)(req->minor << 1 | (first != 0));
    if (req->twice & vary || local_len == 0 || local_len > 255
        || !put(&k, local, local_len) || !put(&k, &vary, sizeof(vary))
        || !put_field(&k, req, head, REQUEST_HOST)) {
        return 0;
    }
    for (rest = vary; rest; rest &= rest - 1) {
        if (!put_field(&k, req, head, (unsigned)__builtin_ctzll(rest))) {
            return 0;
        }
    }
    if (!put(&k, head + req->path.off, req->path.len)) {
        return 0;
    }
    *base = (size_t)(k.p - out);
    if (query && !put(&k, head + req->path.off + req->path.len, query)) {
        return 0;
    }
    return (size_t)(k.p - out);
}
