/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/peer_share.h"

#include <string.h>
#include <unistd.h>

#include "base/shm_ring.h"
#include "cache/cache.h"
#include "handoff/handoff.h"
#include "http/response_304.h"

/* A megabyte; what has not been read when it is full is lost. */
#define WORDS (1u << 17)
#define PATH_LONGEST 4096

/* The part of fixed length. Of one machine and one build. */
typedef struct fixed {
    struct stat st;
    response_base base;
    uint64_t server; /* the same pointer in all children of a parent */
    uint64_t mask;
    uint64_t vary;
    int64_t when;
    int64_t size;
    int64_t content;
    uint64_t digest[2];
    int64_t keep_alive_timeout;
    int64_t idle;
    int64_t timeout;
    int32_t keep_alive_max;
    int32_t status;
    uint32_t pid;
    uint16_t key_len;
    uint16_t path_len; /* its NUL included */
    uint16_t head_len;
    uint8_t kind;
    uint8_t flags; /* of response_learn */
    uint8_t keep_alive;
    uint8_t no_sendfile;
    uint16_t env_len;
    uint16_t key_base;
    uint8_t sections;
    uint8_t shared;
    uint16_t watch_len;
} fixed;

_Static_assert(sizeof(fixed) <= PEER_SHARE_FIXED, "NOTICE_FIXED is too small");

#define LONGEST                                                                \
    (PEER_SHARE_FIXED + REQUEST_KEY + PATH_LONGEST + RESPONSE_HEAD             \
     + RESPONSE_ENV + WATCHED_BYTES)

static shm_ring *the_ring; /* of this generation */

/* What the loop's thread reads. */
static struct {
    shm_ring_reader reader;
    lesson said;
    char head[RESPONSE_HEAD];
    char bytes[LONGEST];
} ear;

static apr_status_t forget(void *unused)
{
    if (the_ring) {
        shm_ring_free(the_ring);
        the_ring = NULL;
    }
    return APR_SUCCESS;
}

int peer_share_make(apr_pool_t *pconf)
{
    the_ring = shm_ring_make(WORDS);
    if (!the_ring) {
        return -1;
    }
    apr_pool_cleanup_register(pconf, NULL, forget, apr_pool_cleanup_null);
    return 0;
}

void peer_share_follow(void)
{
    if (the_ring) {
        shm_ring_follow(&ear.reader, the_ring);
    }
}

void peer_share_write(const lesson *l, char bytes[PEER_SHARE_FIXED],
                      struct iovec parts[PEER_SHARE_PARTS])
{
    const int is_304 = l->kind == LESSON_304;
    const char *head = is_304 ? l->unchanged.head : l->answer.head;
    fixed f;

    memset(&f, 0, sizeof(f));
    f.st = l->st;
    f.base = is_304 ? l->unchanged.base : l->answer.base;
    f.server = (uintptr_t)l->server.server;
    f.mask = l->mask;
    f.vary = l->vary;
    f.when = l->when;
    f.size = is_304 ? l->st.st_size : l->answer.size;
    f.content = is_304 ? f.size : l->answer.content;
    memcpy(f.digest, l->answer.digest, sizeof(f.digest));
    f.keep_alive_timeout = l->server.keep_alive_timeout;
    f.idle = l->server.idle;
    f.timeout = l->server.timeout;
    f.keep_alive_max = l->server.keep_alive_max;
    f.status = l->status;
    f.pid = (uint32_t)getpid();
    f.key_len = l->key_len;
    f.key_base = l->key_base;
    f.path_len = (uint16_t)(strlen(l->path) + 1);
    f.head_len = is_304 ? l->unchanged.head_len : l->answer.head_len;
    f.env_len = is_304 ? 0 : l->answer.env_len;
    f.watch_len = l->watch_len;
    f.kind = l->kind;
    f.flags = (uint8_t)(is_304 ? l->unchanged.clocked ? RESPONSE_CLOCKED : 0
                               : response_flags(&l->answer));
    f.keep_alive = (uint8_t)l->server.keep_alive;
    f.no_sendfile = (uint8_t)l->server.no_sendfile;
    f.sections = (uint8_t)l->server.sections;
    f.shared = l->shared;
    memset(bytes, 0, PEER_SHARE_FIXED);
    memcpy(bytes, &f, sizeof(f));
    parts[0] = (struct iovec){bytes, PEER_SHARE_FIXED};
    parts[1] = (struct iovec){(void *)l->key, f.key_len};
    parts[2] = (struct iovec){(void *)l->path, f.path_len};
    parts[3] = (struct iovec){(void *)head, f.head_len};
    parts[4] =
        (struct iovec){(void *)(f.env_len ? l->answer.env : ""), f.env_len};
    parts[5] =
        (struct iovec){(void *)(f.watch_len ? l->watch : ""), f.watch_len};
}

void peer_share_post(const lesson *l)
{
    struct iovec parts[PEER_SHARE_PARTS];
    char bytes[PEER_SHARE_FIXED];

    /* What a message is watched by, each process has to see for itself. */
    if (!the_ring || l->kind == LESSON_REFUSED || l->answer.message
        || strlen(l->path) >= PATH_LONGEST) {
        return;
    }
    peer_share_write(l, bytes, parts);
    shm_ring_post(the_ring, parts, PEER_SHARE_PARTS);
}

/* The numbers that mean something by themselves. */
static int in_range(const fixed *f, int64_t now)
{
    const uint64_t fields = ~UINT64_C(0) >> (64 - request_field_ids());

    return (f->kind == LESSON_ANSWER || f->kind == LESSON_WIDEN
            || f->kind == LESSON_304)
           && f->base.known <= 1 && f->base.tag_len <= RESPONSE_TAG
           && f->when >= 0 && f->when <= now && now - f->when < CACHE_AGE
           && !((f->mask | f->vary) & ~fields) && f->keep_alive <= 1
           && f->no_sendfile <= 1 && f->sections <= 1 && f->shared <= 1
           && f->keep_alive_max >= 0 && f->keep_alive_timeout >= 0
           && f->idle >= 0 && f->timeout >= 0 && f->content >= 0
           && f->size >= f->content
           && !(f->flags & ~(RESPONSE_FLAGS & ~RESPONSE_MESSAGE))
           && (f->flags & RESPONSE_ENCODED || f->size == f->st.st_size);
}

/* The body of an encoded answer, which does not come along. */
static int take_body(response *a, const fixed *f)
{
    if (!(f->flags & RESPONSE_ENCODED)
        || a->framing != RESPONSE_FRAMING_CHUNKED) {
        if (f->content != f->size) {
            return -1;
        }
    }
    a->content = f->content;
    memcpy(a->digest, f->digest, sizeof(a->digest));
    return f->flags & RESPONSE_ENCODED || !(f->digest[0] | f->digest[1]) ? 0
                                                                         : -1;
}

/* Names and values, each with its NUL. */
static int is_env(const char *text, size_t len)
{
    size_t i, ends = 0;

    for (i = 0; i < len; i++) {
        ends += !text[i];
    }
    return len <= RESPONSE_ENV && ends % 2 == 0 && (!len || !text[len - 1]);
}

/* What is behind the base is one part of a key, a query. */
static int is_key(const unsigned char *key, size_t len, size_t base)
{
    const unsigned char *query = key + base;

    return len >= 1 && len <= REQUEST_KEY && base >= 1
           && (base == len
               || (base + REQUEST_KEY_PART < len
                   && base + REQUEST_KEY_PART + (query[0] << 8) + query[1]
                          == len
                   && query[REQUEST_KEY_PART] == '?'));
}

/* Key, path, environment and names of the lengths that @a f says, and no more.
 */
static int fits(const fixed *f, const char *key, size_t len)
{
    const char *path = key + f->key_len;
    const char *watch = key + len - f->watch_len;

    return len
               == (size_t)f->key_len + f->path_len + f->head_len + f->env_len
                      + f->watch_len
           && is_env(watch - f->env_len, f->env_len)
           && watched_is_valid(watch, f->watch_len)
           && is_key((const unsigned char *)key, f->key_len, f->key_base)
           && f->path_len >= 2 && f->path_len <= PATH_LONGEST && path[0] == '/'
           && memchr(path, 0, f->path_len) == path + f->path_len - 1;
}

/* Its head, at @a bytes. */
static int take_head(lesson *out, const fixed *f, const char *bytes, char *copy)
{
    const char *error;

    if (f->kind == LESSON_304) {
        if (f->flags & ~RESPONSE_CLOCKED || f->vary || f->env_len
            || response_304_learn(&out->unchanged, bytes, f->head_len,
                                  f->flags != 0, copy, &error)) {
            return -1;
        }
        out->unchanged.base = f->base;
        return 0;
    }
    if (response_learn(&out->answer, bytes, f->head_len, f->size, f->flags,
                       copy, &error)) {
        return -1;
    }
    out->answer.base = f->base;
    return take_body(&out->answer, f);
}

int peer_share_parse(const char *bytes, size_t len, int64_t now, lesson *out,
                     char head[RESPONSE_HEAD])
{
    const char *key = bytes + PEER_SHARE_FIXED, *path;
    fixed f;

    if (len < PEER_SHARE_FIXED) {
        return -1;
    }
    memcpy(&f, bytes, sizeof(f));
    if (!in_range(&f, now) || !fits(&f, key, len - PEER_SHARE_FIXED)) {
        return -1;
    }
    path = key + f.key_len;
    memset(out, 0, sizeof(*out));
    if (take_head(out, &f, path + f.path_len, head)) {
        return -1;
    }
    out->answer.env = path + f.path_len + f.head_len;
    out->answer.env_len = f.env_len;
    out->watch = path + f.path_len + f.head_len + f.env_len;
    out->watch_len = f.watch_len;
    out->kind = f.kind;
    out->reason = -1;
    out->status = f.status;
    out->mask = f.mask;
    out->vary = f.vary;
    out->when = f.when;
    out->st = f.st;
    out->server.server = (const server_rec *)(uintptr_t)f.server;
    out->server.keep_alive = f.keep_alive;
    out->server.keep_alive_max = f.keep_alive_max;
    out->server.keep_alive_timeout = f.keep_alive_timeout;
    out->server.idle = f.idle;
    out->server.timeout = f.timeout;
    out->server.no_sendfile = f.no_sendfile;
    out->server.sections = f.sections;
    out->shared = f.shared;
    out->key_len = f.key_len;
    out->key_base = f.key_base;
    out->key = (const unsigned char *)key;
    out->path = path;
    return 0;
}

int peer_share_read(lesson **said)
{
    uint32_t pid;
    size_t len;

    *said = NULL;
    if (!ear.reader.ring
        || !(len = shm_ring_read(&ear.reader, ear.bytes, sizeof(ear.bytes)))) {
        return 0;
    }
    if (len < PEER_SHARE_FIXED) {
        return 1;
    }
    memcpy(&pid, ear.bytes + offsetof(fixed, pid), sizeof(pid));
    if (pid != (uint32_t)getpid()
        && !peer_share_parse(ear.bytes, len, clock_ms(), &ear.said, ear.head)) {
        *said = &ear.said;
    }
    return 1;
}
