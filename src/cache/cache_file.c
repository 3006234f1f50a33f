/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/cache_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PART 16384 /* bytes compared at once */

static int64_t nanoseconds(const struct timespec *t)
{
    return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

int cache_file_identify(cache_file_id *id, const struct stat *st)
{
    memset(id, 0, sizeof(*id));
    id->dev = st->st_dev;
    id->ino = st->st_ino;
    id->size = st->st_size;
    id->mtime = nanoseconds(&st->st_mtim);
    id->ctime = nanoseconds(&st->st_ctim);
    id->mode = st->st_mode;
    id->uid = st->st_uid;
    id->gid = st->st_gid;
    return S_ISREG(st->st_mode) ? 0 : -1;
}

int cache_file_is_same(const cache_file_id *a, const cache_file_id *b)
{
    return !memcmp(a, b, sizeof(*a));
}

int cache_file_is_still(int fd, const cache_file_id *id)
{
    struct stat st;
    cache_file_id now;

    return fstat(fd, &st) == 0 && cache_file_identify(&now, &st) == 0
           && cache_file_is_same(&now, id);
}

static int open_file(const char *path)
{
    int fd;

    do {
        fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

cache_file_found cache_file_look(const char *path, const cache_file_id *id)
{
    int fd = open_file(path), same;

    if (fd < 0) {
        return errno == EMFILE || errno == ENFILE ? CACHE_FILE_UNKNOWN
                                                  : CACHE_FILE_CHANGED;
    }
    same = cache_file_is_still(fd, id);
    close(fd);
    return same ? CACHE_FILE_SAME : CACHE_FILE_CHANGED;
}

/* Reads, not maps: a mapped file that is truncated raises SIGBUS. */
static int read_part(int fd, char *data, int64_t off, int64_t size)
{
    int64_t done = 0;

    while (done < size) {
        ssize_t n = pread(fd, data + done, (size_t)(size - done), off + done);

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            errno = n == 0 ? 0 : errno;
            return -1;
        }
        done += n;
    }
    return 0;
}

static int copy_file(cache_file *f, int fd, const cache_file_id *id)
{
    char *data = malloc(id->size ? (size_t)id->size : 1);

    if (!data) {
        return -1;
    }
    if (read_part(fd, data, 0, id->size)) {
        free(data);
        return -1;
    }
    errno = 0;
    if (!cache_file_is_still(fd, id)) {
        free(data);
        return -1;
    }
    f->data = data;
    return 0;
}

int cache_file_load(cache_file *f, const char *path, const cache_file_id *id,
                    int in_memory)
{
    int fd = open_file(path), rc = 0, error;

    f->data = NULL;
    f->fd = -1;
    f->size = id->size;
    if (fd < 0) {
        return -1;
    }
    if (!cache_file_is_still(fd, id)) {
        close(fd);
        errno = 0;
        return -1;
    }
    if (!in_memory) {
        f->fd = fd;
        return 0;
    }
    rc = copy_file(f, fd, id);
    error = errno;
    close(fd);
    errno = error;
    return rc;
}

static cache_file_found compare(const cache_file *f, int fd)
{
    char part[PART];
    int64_t off;

    for (off = 0; off < f->size; off += PART) {
        int64_t n = f->size - off < PART ? f->size - off : PART;

        if (read_part(fd, part, off, n)) {
            return errno ? CACHE_FILE_UNKNOWN : CACHE_FILE_CHANGED;
        }
        if (memcmp(part, f->data + off, (size_t)n) != 0) {
            return CACHE_FILE_CHANGED;
        }
    }
    return CACHE_FILE_SAME;
}

cache_file_found cache_file_compare(const cache_file *f, const char *path,
                                    const cache_file_id *id)
{
    int fd = open_file(path);
    cache_file_found found;

    if (fd < 0) {
        return errno == ENOENT || errno == EACCES ? CACHE_FILE_CHANGED
                                                  : CACHE_FILE_UNKNOWN;
    }
    found = cache_file_is_still(fd, id) ? compare(f, fd) : CACHE_FILE_CHANGED;
    close(fd);
    return found;
}

void cache_file_unload(cache_file *f)
{
    free((char *)f->data);
    f->data = NULL;
    if (f->fd >= 0) {
        close(f->fd);
    }
    f->fd = -1;
}
