/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/cache_path.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/siphash.h"

/* No padding: hashed as bytes. */
typedef struct level {
    uint64_t before;
    uint64_t dev;
    uint64_t ino;
    uint32_t mode;
    uint32_t uid;
    uint32_t gid;
    uint32_t zero;
} level;

static void add(uint64_t *digest, const struct stat *st)
{
    /* Whoever makes directories cannot choose their inodes. */
    static const uint64_t key[2] = {0x6370752d70617468, 0x2d64696765737431};
    level l = {*digest,    st->st_dev, st->st_ino, st->st_mode,
               st->st_uid, st->st_gid, 0};

    *digest = siphash_13(key, &l, sizeof(l));
}

/* @return 0, or -1: not a directory, or a way to one */
static int add_directory(uint64_t *digest, const char *path)
{
    struct stat st;

    if (lstat(path, &st)) {
        return -1;
    }
    add(digest, &st);
    if (S_ISLNK(st.st_mode)) {
        if (stat(path, &st)) {
            return -1;
        }
        add(digest, &st);
    }
    return S_ISDIR(st.st_mode) ? 0 : -1;
}

static int is_absent(const char *path)
{
    struct stat st;

    return lstat(path, &st) && errno == ENOENT;
}

/* Without slashes at its end, by which a link would be followed. */
static size_t length(const char *path)
{
    size_t len = strlen(path);

    while (len > 1 && path[len - 1] == '/') {
        len--;
    }
    return len;
}

int cache_path_look(const char *path, cache_cause cause, uint64_t *digest)
{
    size_t len = length(path), i;
    char part[PATH_MAX];
    int levels = 0;

    *digest = 0;
    if (path[0] != '/' || len < 2 || len >= sizeof(part)) {
        return -1;
    }
    memcpy(part, path, len);
    part[len] = '\0';
    if (add_directory(digest, "/")) {
        return -1;
    }
    for (i = 1; i < len; i++) {
        if (part[i] != '/') {
            continue;
        }
        part[i] = '\0';
        if (++levels == CACHE_PATH_LEVELS || add_directory(digest, part)) {
            return -1;
        }
        part[i] = '/';
    }
    if (cause == CACHE_CAUSE_DIRECTORY) {
        return add_directory(digest, part);
    }
    return is_absent(part) ? 0 : -1;
}
