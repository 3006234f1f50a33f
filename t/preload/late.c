/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All children but one of each generation begin LATE milliseconds late, as if
 * they did not get a CPU. The one is whoever makes the generation's file
 * LATE_MARK.N first; it does when it makes its loop's eventfd. Loaded into
 * httpd by LD_PRELOAD.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

/* Of the parent's, as its children know it: each restart makes shared memory
 * anew. */
static int generation;

int memfd_create(const char *name, unsigned flags)
{
    int (*real)(const char *, unsigned);

    *(void **)&real = dlsym(RTLD_NEXT, "memfd_create");
    generation++;
    return real(name, flags);
}

int eventfd(unsigned initial, int flags)
{
    int (*real)(unsigned, int);
    const char *late = getenv("LATE"), *mark = getenv("LATE_MARK");

    *(void **)&real = dlsym(RTLD_NEXT, "eventfd");
    /* The door's is a semaphore. */
    if (late && mark && !(flags & EFD_SEMAPHORE)) {
        char name[256];
        int fd;

        snprintf(name, sizeof(name), "%s.%d", mark, generation);
        fd = open(name, O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0) {
            usleep((unsigned)atoi(late) * 1000);
        }
        else {
            close(fd);
        }
    }
    return real(initial, flags);
}
