/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remembers which names of files a thread asks the C library for, for
 * t/module/observe.c, which begins and ends it by names_begin() and
 * names_end(). Loaded into httpd by LD_PRELOAD.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static __thread char names[16384];
static __thread size_t len;
static __thread int on;

void names_begin(void);
const char *names_end(void);

void names_begin(void)
{
    on = 1;
    len = 0;
    names[0] = '\0';
}

/* @return what was asked for since, "CALL NAME;" each; NULL: this thread has
 * not begun */
const char *names_end(void)
{
    int was = on;

    on = 0;
    return was ? names : NULL;
}

static void note(const char *call, const char *name)
{
    int n;

    if (on && name) {
        n = snprintf(names + len, sizeof(names) - len, "%s %s;", call, name);
        if (n > 0 && (size_t)n < sizeof(names) - len) {
            len += (size_t)n;
        }
    }
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define OPEN(name)                                                             \
    int name(const char *path, int flags, ...)                                 \
    {                                                                          \
        mode_t mode = 0;                                                       \
        va_list more;                                                          \
        va_start(more, flags);                                                 \
        if (flags & O_CREAT) {                                                 \
            mode = va_arg(more, mode_t);                                       \
        }                                                                      \
        va_end(more);                                                          \
        note("open", path);                                                    \
        return REAL(name)(path, flags, mode);                                  \
    }
OPEN(open)
OPEN(open64)

#define STAT(name, type)                                                       \
    int name(const char *path, struct type *st)                                \
    {                                                                          \
        note(#name, path);                                                     \
        return REAL(name)(path, st);                                           \
    }
STAT(stat, stat)
STAT(stat64, stat64)
STAT(lstat, stat)
STAT(lstat64, stat64)

int fstatat(int dir, const char *path, struct stat *st, int flags)
{
    note("fstatat", path);
    return REAL(fstatat)(dir, path, st, flags);
}

int access(const char *path, int mode)
{
    note("access", path);
    return REAL(access)(path, mode);
}

DIR *opendir(const char *path)
{
    note("opendir", path);
    return REAL(opendir)(path);
}

ssize_t readlink(const char *path, char *out, size_t size)
{
    note("readlink", path);
    return REAL(readlink)(path, out, size);
}
