/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that is no loop sleeps PAUSE milliseconds after each writev() to a
 * socket, and after it has given one to epoll, as if another thread had the
 * CPU just then: the client has its answer and goes on before httpd does.
 * Loaded into httpd by LD_PRELOAD.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static void rest(int fd)
{
    const char *pause = getenv("PAUSE");
    char name[17] = "";
    int error = errno;
    struct stat st;

    if (pause && !prctl(PR_GET_NAME, name) && strcmp(name, "httpd/static")
        && !fstat(fd, &st) && S_ISSOCK(st.st_mode)) {
        usleep((unsigned)atoi(pause) * 1000);
    }
    errno = error;
}

ssize_t writev(int fd, const struct iovec *parts, int nparts)
{
    ssize_t (*real)(int, const struct iovec *, int);
    ssize_t n;

    *(void **)&real = dlsym(RTLD_NEXT, "writev");
    n = real(fd, parts, nparts);
    rest(fd);
    return n;
}

int epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
    int (*real)(int, int, int, struct epoll_event *);
    int rc;

    *(void **)&real = dlsym(RTLD_NEXT, "epoll_ctl");
    rc = real(epoll, op, fd, event);
    if (op != EPOLL_CTL_DEL) {
        rest(fd);
    }
    return rc;
}
