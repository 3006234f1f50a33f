/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shared_mem.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIZE_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static int fail(int fd)
{
    int saved = errno;

    if (fd >= 0) {
        close(fd);
    }
    errno = saved;
    return -1;
}

/* @return a descriptor whose size is sealed, or -1 with errno */
static int make_sealed(const char *name, size_t size)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

    return fd < 0 || ftruncate(fd, (off_t)size)
                   || fcntl(fd, F_ADD_SEALS, SIZE_SEALS)
               ? fail(fd)
               : fd;
}

int shared_mem_make(shared_mem *m, const char *name, size_t size)
{
    int flags = MAP_SHARED;

    m->size = size;
    m->fd = make_sealed(name, size);
    if (m->fd < 0) {
        /* This has no descriptor that a child could shrink it by; opening it
         * in /proc/PID/map_files takes CAP_CHECKPOINT_RESTORE. */
        flags |= MAP_ANONYMOUS;
    }
    m->at = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, m->fd, 0);
    return m->at == MAP_FAILED ? fail(m->fd) : 0;
}

void shared_mem_free(shared_mem *m)
{
    munmap(m->at, m->size);
    if (m->fd >= 0) {
        close(m->fd);
    }
}

static int write_all(int fd, const char *bytes, size_t size)
{
    while (size) {
        ssize_t n = write(fd, bytes, size);

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return -1;
        }
        bytes += n;
        size -= (size_t)n;
    }
    return 0;
}

int shared_mem_publish(const char *name, const void *bytes, size_t size)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

    return fd < 0 || write_all(fd, bytes, size)
                   || fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | SIZE_SEALS)
               ? fail(fd)
               : fd;
}
