/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/capture.h"

#include "http_protocol.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/siphash.h"

#define ROOM_FIRST 16384

static struct {
    uint64_t key[2][2];
    int made;
} secret;

int capture_init(void)
{
    secret.made =
        getrandom(secret.key, sizeof(secret.key), 0) == sizeof(secret.key);
    return secret.made ? 0 : -1;
}

/* Of all captures of the process, bytes: clients that stop to read hold what
 * was captured for them. */
static size_t held;

static int may_hold(size_t more)
{
    if (__atomic_add_fetch(&held, more, __ATOMIC_RELAXED) <= CAPTURE_ALL) {
        return 1;
    }
    __atomic_sub_fetch(&held, more, __ATOMIC_RELAXED);
    return 0;
}

char *capture_release(capture *c)
{
    char *body = c->body;

    __atomic_sub_fetch(&held, c->room, __ATOMIC_RELAXED);
    c->body = NULL;
    c->len = c->room = 0;
    return body;
}

void capture_drop(capture *c)
{
    free(capture_release(c));
}

static apr_status_t drop(void *c)
{
    capture_drop(c);
    return APR_SUCCESS;
}

capture *capture_make(request_rec *r, const response *a, uint64_t vary)
{
    capture *c;

    if (!secret.made) {
        return NULL;
    }
    c = apr_pcalloc(r->pool, sizeof(*c));
    response_copy(&c->answer, a, apr_palloc(r->pool, response_bytes(a)));
    c->vary = vary;
    c->when = clock_ms();
    apr_pool_cleanup_register(r->pool, c, drop, apr_pool_cleanup_null);
    return c;
}

/* @return NULL or why not */
static const char *add(capture *c, const char *data, size_t len)
{
    if (len > CAPTURE_MOST - c->len) {
        return "its compressed body is longer than 1 MiB";
    }
    if (len > c->room - c->len) {
        size_t room = c->room ? c->room : ROOM_FIRST;
        char *body;

        while (room < c->len + len) {
            room *= 2;
        }
        c->lack = 1;
        if (!may_hold(room - c->room)) {
            return "too many compressed bodies are on their way";
        }
        body = realloc(c->body, room);
        if (!body) {
            __atomic_sub_fetch(&held, room - c->room, __ATOMIC_RELAXED);
            return "no memory for its compressed body";
        }
        c->lack = 0;
        c->body = body;
        c->room = room;
    }
    memcpy(c->body + c->len, data, len);
    c->len += len;
    return NULL;
}

int capture_take(capture *c, apr_bucket_brigade *bb, apr_bucket *e)
{
    for (; e != APR_BRIGADE_SENTINEL(bb); e = APR_BUCKET_NEXT(e)) {
        const char *data;
        apr_size_t len;

        if (APR_BUCKET_IS_EOS(e)) {
            c->whole = 1;
            return 1;
        }
        if (APR_BUCKET_IS_METADATA(e)) {
            if (AP_BUCKET_IS_ERROR(e)) {
                c->error = "an error came behind its head";
                return 1;
            }
            continue;
        }
        /* What a filter made is in memory. */
        if (APR_BUCKET_IS_FILE(e)
            || apr_bucket_read(e, &data, &len, APR_NONBLOCK_READ)
                   != APR_SUCCESS) {
            c->error = "its compressed body cannot be read";
            return 1;
        }
        c->error = add(c, data, len);
        if (c->error) {
            capture_drop(c); /* its client may take long for the rest */
            return 1;
        }
    }
    return 0;
}

void capture_trim(capture *c)
{
    char *body = c->len ? realloc(c->body, c->len) : NULL;

    if (body) {
        __atomic_sub_fetch(&held, c->room - c->len, __ATOMIC_RELAXED);
        c->body = body;
        c->room = c->len;
    }
}

void capture_digest(const char *bytes, size_t len, uint64_t digest[2])
{
    digest[0] = siphash_13(secret.key[0], bytes, len);
    digest[1] = siphash_13(secret.key[1], bytes, len);
}
