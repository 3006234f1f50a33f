/* SPDX-License-Identifier: Apache-2.0 */
/* page_cache: a file that is not in memory is told from one that is, and read.
 * */
#include "cache/page_cache.h"

#include "tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIZE (3 * PAGE_CACHE_STEP + 1000)

static char name[] = "cpuaff-cold-XXXXXX";

/* Written and on the disk. */
static int make_file(void)
{
    static char bytes[SIZE];
    int fd = mkstemp(name);

    memset(bytes, 'c', sizeof(bytes));
    if (fd < 0 || write(fd, bytes, sizeof(bytes)) != SIZE || fsync(fd)) {
        printf("Bail out! %s cannot be written\n", name);
        exit(1);
    }
    unlink(name);
    return fd;
}

/* @return milliseconds until all of it is there, -1: never */
static int wait_for_all(int fd)
{
    int i;

    for (i = 0; i < 2500; i++) {
        if (page_cache_ready(fd, 0, SIZE) == SIZE) {
            return i * PAGE_CACHE_WAIT;
        }
        usleep(PAGE_CACHE_WAIT * 1000);
    }
    return -1;
}

/* What was found is taken from the note for a while, and no longer. */
static void test_lately(int fd)
{
    page_cache_range known = {0, 0, 0};

    is_int(page_cache_ready_lately(&known, fd, 100, PAGE_CACHE_STEP, 7),
           PAGE_CACHE_STEP, "nothing is known: looked at");
    is_int(known.from, 100, "noted from");
    is_int(known.to, 100 + PAGE_CACHE_STEP, "and to");
    is_int(page_cache_ready_lately(&known, fd, 200, 50, 6 + PAGE_CACHE_TRUST),
           50, "within it: as noted");
    is_int(page_cache_ready_lately(&known, fd, 100 + PAGE_CACHE_STEP,
                                   PAGE_CACHE_STEP, 50),
           PAGE_CACHE_STEP, "what follows");
    is_int(known.to, 100 + 2 * PAGE_CACHE_STEP, "makes it longer");
    is_int(known.at, 7, "and not younger");
    is_int(page_cache_ready_lately(&known, fd, 300, 50, 7 + PAGE_CACHE_TRUST),
           50, "too old");
    is_int(known.from, 300, "a new note: from");
    is_int(known.to, 350, "to");
    is_int(known.at, 7 + PAGE_CACHE_TRUST, "of now");
    is_int(page_cache_ready_lately(&known, fd, 0, 50, 7 + PAGE_CACHE_TRUST), 50,
           "before it");
    is_int(known.from, 0, "is another range");
}

int main(void)
{
    int fd = make_file(), null = open("/dev/null", O_RDONLY), took;
    page_cache_range known = {0, 0, 0}, noted = {0, 0, 0};

    is_int(page_cache_ready(fd, 0, SIZE), SIZE, "just written: all of it");
    is_int(page_cache_ready(fd, 10, 1), 1, "one byte of it");
    is_int(page_cache_ready(fd, SIZE, 100), 100, "behind its end: as asked");
    is_int(page_cache_ready(fd, 0, 0), 0, "nothing");
    is_int(page_cache_ready(null, 0, 5), 5,
           "where it cannot be told: as asked");
    test_lately(fd);
    page_cache_ready_lately(&noted, fd, 0, SIZE, 1);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    if (page_cache_ready_lately(&known, fd, 0, SIZE, 1) == SIZE) {
        ok(1, "# skip this file system keeps it, or does not tell");
    }
    else {
        is_int(page_cache_ready_lately(&noted, fd, 0, SIZE, PAGE_CACHE_TRUST),
               SIZE, "noted a moment ago: not looked at");
        page_cache_ready_lately(&noted, fd, 0, SIZE, 1 + PAGE_CACHE_TRUST);
        is_int(noted.at, 1 + PAGE_CACHE_TRUST, "and then it is");
        took = wait_for_all(fd);
        ok(took >= 0, "not in memory: there %d ms later", took);
    }
    return done();
}
