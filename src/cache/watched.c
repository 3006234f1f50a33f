/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/watched.h"

#include <errno.h>
#include <string.h>

#include "cache/cache_file.h"

/* A name: one of these, the path with its NUL and, of a file, its identity. */
#define ABSENT 'a'
#define FILE_IS 'f'

typedef struct name {
    const char *path;
    const char *id; /* sizeof(cache_file_id) bytes, NULL: absent */
} name;

/* Takes the next one. @return how many bytes it has; 0: it is none */
static size_t next_name(const char *bytes, size_t len, name *out)
{
    const char *end = len > 1 ? memchr(bytes + 1, 0, len - 1) : NULL;
    size_t used = end ? (size_t)(end - bytes) + 1 : 0;

    if (!end || bytes[1] != '/') {
        return 0;
    }
    out->path = bytes + 1;
    out->id = NULL;
    if (bytes[0] == ABSENT) {
        return used;
    }
    if (bytes[0] != FILE_IS || len - used < sizeof(cache_file_id)) {
        return 0;
    }
    out->id = bytes + used;
    return used + sizeof(cache_file_id);
}

/* @return 1: it is there with this outcome; 0: with another; -1: not there */
static int find(const watched *w, const char *path, const cache_file_id *id)
{
    size_t at, used;
    name n;

    for (at = 0; at < w->len; at += used) {
        used = next_name(w->bytes + at, w->len - at, &n);
        if (!used) {
            return 0;
        }
        if (!strcmp(n.path, path)) {
            return id ? n.id && !memcmp(n.id, id, sizeof(*id)) : !n.id;
        }
    }
    return -1;
}

int watched_add(watched *w, const char *path, const struct stat *st)
{
    size_t len = strlen(path) + 1, more = st ? sizeof(cache_file_id) : 0;
    cache_file_id id;
    int found;

    if (path[0] != '/' || (st && cache_file_identify(&id, st))) {
        return -1;
    }
    found = find(w, path, st ? &id : NULL);
    if (found >= 0) {
        return found ? 0 : -1;
    }
    if (w->names == WATCHED_NAMES || WATCHED_BYTES - w->len < 1 + len + more) {
        return -1;
    }
    w->bytes[w->len++] = st ? FILE_IS : ABSENT;
    memcpy(w->bytes + w->len, path, len);
    w->len += len;
    if (st) {
        memcpy(w->bytes + w->len, &id, sizeof(id));
        w->len += sizeof(id);
    }
    w->names++;
    return 0;
}

static int is_as_it_was(const name *n)
{
    cache_file_id now;
    struct stat st;
    int rc;

    do {
        rc = stat(n->path, &st);
    } while (rc && errno == EINTR);
    if (rc) {
        return !n->id && (errno == ENOENT || errno == ENOTDIR);
    }
    return n->id && !cache_file_identify(&now, &st)
           && !memcmp(n->id, &now, sizeof(now));
}

int watched_is_met(const char *bytes, size_t len)
{
    size_t at, used;
    name n;

    for (at = 0; at < len; at += used) {
        used = next_name(bytes + at, len - at, &n);
        if (!used || !is_as_it_was(&n)) {
            return 0;
        }
    }
    return 1;
}

int watched_is_valid(const char *bytes, size_t len)
{
    unsigned names = 0;
    size_t at, used;
    name n;

    if (len > WATCHED_BYTES) {
        return 0;
    }
    for (at = 0; at < len; at += used, names++) {
        used = next_name(bytes + at, len - at, &n);
        if (!used || names == WATCHED_NAMES) {
            return 0;
        }
    }
    return 1;
}
