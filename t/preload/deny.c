/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lets one call fail in chosen processes, as if the machine or its policy
 * denied it. Loaded into httpd by LD_PRELOAD.
 *   DENY        eventfd, epoll_create1, epoll_ctl, memfd_create or
 *               pthread_create
 *   DENY_CALL   the which of each process, from 1 on
 *   DENY_FIRST  in so many of the children, in the order of their first call
 *               of it; 0: in the parent
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static pid_t parent;
static int *children; /* in memory of all of them */

static struct {
    pid_t pid;
    int order; /* of this child, 0 in the parent */
    int calls;
} me;

__attribute__((constructor)) static void begin(void)
{
    parent = getpid();
    children = mmap(NULL, sizeof(*children), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static int number(const char *name)
{
    const char *value = getenv(name);

    return value ? atoi(value) : 0;
}

/* Is this the call? The calls that are counted come from one thread. */
static int denied(const char *name)
{
    const char *which = getenv("DENY");
    int first = number("DENY_FIRST");

    if (!which || strcmp(which, name)) {
        return 0;
    }
    if (me.pid != getpid()) {
        me.pid = getpid();
        me.calls = 0;
        me.order = me.pid == parent
                       ? 0
                       : __atomic_add_fetch(children, 1, __ATOMIC_RELAXED);
    }
    return ++me.calls == number("DENY_CALL")
           && (me.order ? me.order <= first : !first);
}

static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

/* The MPM has an epoll of its own. */
static int is_loop(void)
{
    char name[17] = "";

    return !prctl(PR_GET_NAME, name) && !strcmp(name, "httpd/static");
}

int eventfd(unsigned value, int flags)
{
    int (*real)(unsigned, int);

    if (denied("eventfd")) {
        errno = EMFILE;
        return -1;
    }
    *(void **)&real = next("eventfd");
    return real(value, flags);
}

int epoll_create1(int flags)
{
    int (*real)(int);

    if (denied("epoll_create1")) {
        errno = EMFILE;
        return -1;
    }
    *(void **)&real = next("epoll_create1");
    return real(flags);
}

int epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
    int (*real)(int, int, int, struct epoll_event *);

    if (is_loop() && denied("epoll_ctl")) {
        errno = ENOSPC;
        return -1;
    }
    *(void **)&real = next("epoll_ctl");
    return real(epoll, op, fd, event);
}

int memfd_create(const char *name, unsigned flags)
{
    int (*real)(const char *, unsigned);

    if (!strncmp(name, "cpuaffinity", 11) && denied("memfd_create")) {
        errno = EPERM;
        return -1;
    }
    *(void **)&real = next("memfd_create");
    return real(name, flags);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                   void *(*run)(void *), void *data)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

    if (denied("pthread_create")) {
        return EAGAIN;
    }
    *(void **)&real = next("pthread_create");
    return real(thread, attr, run, data);
}
