/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets the time of day back by five hours once the file CLOCK_BACK is there,
 * and the monotonic clocks on by the seconds that stand in the file CLOCK_ON.
 * Loaded into httpd by LD_PRELOAD.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define BACK (5 * 3600)

static time_t back(void)
{
    const char *file = getenv("CLOCK_BACK");
    int error = errno;
    time_t by = file && !access(file, F_OK) ? BACK : 0;

    errno = error;
    return by;
}

static time_t on(void)
{
    const char *file = getenv("CLOCK_ON");
    int error = errno, fd = file ? open(file, O_RDONLY | O_CLOEXEC) : -1;
    char text[16] = "";
    time_t by = 0;

    if (fd >= 0) {
        by = read(fd, text, sizeof(text) - 1) > 0 ? atol(text) : 0;
        close(fd);
    }
    errno = error;
    return by;
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
    int (*real)(clockid_t, struct timespec *);
    int rc;

    *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    rc = real(clock, t);
    if (!rc && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        t->tv_sec -= back();
    }
    if (!rc && (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE)) {
        t->tv_sec += on();
    }
    return rc;
}

int gettimeofday(struct timeval *t, void *zone)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    t->tv_sec = now.tv_sec;
    t->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *t)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    if (t) {
        *t = now.tv_sec;
    }
    return now.tv_sec;
}
