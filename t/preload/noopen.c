/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lets the threads of httpd find no descriptor to open a file of the name
 * NOOPEN with, once the file NOOPEN_IF is there; the loop's thread finds one.
 * Loaded into httpd by LD_PRELOAD.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static int denied(const char *path)
{
    const char *name = getenv("NOOPEN"), *when = getenv("NOOPEN_IF");
    const char *last = strrchr(path, '/');
    char thread[17] = "";
    int error = errno, no;

    no = name && when && last && !strcmp(last + 1, name)
         && !prctl(PR_GET_NAME, thread) && strcmp(thread, "httpd/static")
         && !access(when, F_OK);
    errno = no ? EMFILE : error;
    return no;
}

static int next(const char *call, const char *path, int flags, va_list ap)
{
    int (*real)(const char *, int, ...);
    mode_t mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;

    *(void **)&real = dlsym(RTLD_NEXT, call);
    return denied(path) ? -1 : real(path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    va_list ap;
    int fd;

    va_start(ap, flags);
    fd = next("open", path, flags, ap);
    va_end(ap);
    return fd;
}

int open64(const char *path, int flags, ...)
{
    va_list ap;
    int fd;

    va_start(ap, flags);
    fd = next("open64", path, flags, ap);
    va_end(ap);
    return fd;
}
