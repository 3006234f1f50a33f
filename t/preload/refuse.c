/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loaded into a httpd by a test: calls that the kernel refuses its parent
 * process for as long as a file "refuse-NAME" is in its directory REFUSE.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static pid_t parent;

__attribute__((constructor)) static void begin(void)
{
    parent = getpid();
}

static int refused(const char *name, int error)
{
    char path[512];

    if (getpid() != parent || !getenv("REFUSE")) {
        return 0;
    }
    snprintf(path, sizeof(path), "%s/refuse-%s", getenv("REFUSE"), name);
    if (access(path, F_OK)) {
        return 0;
    }
    errno = error;
    return 1;
}

#define REAL(name) ((typeof(&(name)))dlsym(RTLD_NEXT, #name))

int socketpair(int domain, int type, int protocol, int pair[2])
{
    return refused("socketpair", EMFILE)
               ? -1
               : REAL(socketpair)(domain, type, protocol, pair);
}

int memfd_create(const char *name, unsigned flags)
{
    return refused("memfd", EMFILE) ? -1 : REAL(memfd_create)(name, flags);
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t off)
{
    return flags & MAP_SHARED && protection & PROT_WRITE
                   && refused("shared", ENOMEM)
               ? MAP_FAILED
               : REAL(mmap)(at, size, protection, flags, fd, off);
}

pid_t fork(void)
{
    return refused("fork", EAGAIN) ? -1 : REAL(fork)();
}

int setsockopt(int fd, int level, int option, const void *value, socklen_t n)
{
    return level == SOL_SOCKET && option == SO_REUSEPORT
                   && refused("reuseport", ENOPROTOOPT)
               ? -1
               : REAL(setsockopt)(fd, level, option, value, n);
}
