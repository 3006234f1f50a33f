/* SPDX-License-Identifier: Apache-2.0 */
#include "affinity/pin.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <hwloc/bitmap.h>

/* The mask that forked children get: prepared in advance, because an atfork
 * handler may not allocate. */
static struct {
    size_t bytes;
    unsigned long *bits;
} original_mask;

static pthread_once_t original_once = PTHREAD_ONCE_INIT;
static int original_error;

/* The set as a kernel mask, for free(); NULL with ENOMEM. */
static unsigned long *to_mask(const cpuset *set, size_t *bytes)
{
    int words = hwloc_bitmap_nr_ulongs(set);
    unsigned long *bits;

    if (words < 1) {
        words = 1; /* empty: the kernel refuses it, rightly */
    }
    bits = calloc((size_t)words, sizeof(*bits));
    if (bits && hwloc_bitmap_to_ulongs(set, (unsigned)words, bits)) {
        free(bits);
        return NULL;
    }
    *bytes = (size_t)words * sizeof(*bits);
    return bits;
}

int pin_get(pid_t tid, cpuset *set)
{
    size_t bytes;

    /* EINVAL as long as the mask is shorter than the kernel's own. */
    for (bytes = 128; bytes <= 1 << 20; bytes *= 2) {
        unsigned long *bits = calloc(1, bytes);
        long n;
        int saved;

        if (!bits) {
            return -1;
        }
        n = syscall(SYS_sched_getaffinity, tid, bytes, bits);
        saved = errno;
        if (n >= 0) {
            hwloc_bitmap_from_ulongs(set, (unsigned)(bytes / sizeof(*bits)),
                                     bits);
        }
        free(bits);
        errno = saved;
        if (n >= 0) {
            return 0;
        }
        if (errno != EINVAL) {
            return -1;
        }
    }
    return -1;
}

/* Reads the mask back and compares. @return as pin_set() */
static int verify(pid_t tid, const cpuset *want, cpuset *actual)
{
    cpuset *now = hwloc_bitmap_alloc();
    int rc;

    if (!now || pin_get(tid, now)) {
        hwloc_bitmap_free(now);
        return -1;
    }
    rc = !hwloc_bitmap_isequal(now, want);
    if (actual) {
        hwloc_bitmap_copy(actual, now);
    }
    hwloc_bitmap_free(now);
    return rc;
}

int pin_set(pid_t tid, const cpuset *want, cpuset *actual)
{
    size_t bytes;
    unsigned long *bits = to_mask(want, &bytes);
    long rc;

    if (!bits) {
        return -1;
    }
    rc = syscall(SYS_sched_setaffinity, tid, bytes, bits);
    free(bits);
    return rc ? -1 : verify(tid, want, actual);
}

int pin_set_pthread(pthread_t thread, const cpuset *want, cpuset *actual)
{
    size_t bytes;
    unsigned long *bits = to_mask(want, &bytes);
    unsigned long *back;
    size_t size;
    int rc;

    if (!bits) {
        return -1;
    }
    rc = pthread_setaffinity_np(thread, bytes, (cpu_set_t *)bits);
    free(bits);
    for (size = 128; !rc && size <= 1 << 20; size *= 2) {
        back = calloc(1, size);
        if (!back) {
            return -1;
        }
        rc = pthread_getaffinity_np(thread, size, (cpu_set_t *)back);
        if (!rc) {
            cpuset *now = hwloc_bitmap_alloc();
            int same;

            hwloc_bitmap_from_ulongs(now, (unsigned)(size / sizeof(*back)),
                                     back);
            same = hwloc_bitmap_isequal(now, want);
            if (actual) {
                hwloc_bitmap_copy(actual, now);
            }
            hwloc_bitmap_free(now);
            free(back);
            return !same;
        }
        free(back);
        if (rc == EINVAL) {
            rc = 0;
        }
    }
    errno = rc ? rc : EINVAL;
    return -1;
}

int pin_name(pid_t tid, const char *name)
{
    char path[64];
    size_t length = strnlen(name, 15);
    int fd;
    ssize_t n;

    snprintf(path, sizeof(path), "/proc/self/task/%d/comm",
             (int)(tid ? tid : pin_self()));
    fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        return -1;
    }
    n = write(fd, name, length);
    close(fd);
    return n == (ssize_t)length ? 0 : -1;
}

pid_t pin_self(void)
{
    return (pid_t)syscall(SYS_gettid);
}

/* Runs in the forked child, before exec: async-signal-safe calls only. If it
 * fails, the thread's mask stays, as with CPUAffinityChildren inherit. */
static void restore_original(void)
{
    syscall(SYS_sched_setaffinity, 0, original_mask.bytes, original_mask.bits);
    syscall(SYS_set_mempolicy, 0, NULL, 0);
}

static void register_once(void)
{
    original_error = pthread_atfork(NULL, NULL, restore_original);
}

int pin_children(const cpuset *original)
{
    original_mask.bits = to_mask(original, &original_mask.bytes);
    if (!original_mask.bits) {
        return -1;
    }
    pthread_once(&original_once, register_once);
    errno = original_error;
    return original_error ? -1 : 0;
}
