/* cold: a file that is not in memory is told from one that is, and read. */
#include "fixed/cold.h"

#include "tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIZE (3 * COLD_STEP + 1000)

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
        if (cold_ready(fd, 0, SIZE) == SIZE) {
            return i * COLD_WAIT;
        }
        usleep(COLD_WAIT * 1000);
    }
    return -1;
}

int main(void)
{
    int fd = make_file(), null = open("/dev/null", O_RDONLY), took;

    is_int(cold_ready(fd, 0, SIZE), SIZE, "just written: all of it");
    is_int(cold_ready(fd, 10, 1), 1, "one byte of it");
    is_int(cold_ready(fd, SIZE, 100), 100, "behind its end: as asked");
    is_int(cold_ready(fd, 0, 0), 0, "nothing");
    is_int(cold_ready(null, 0, 5), 5, "where it cannot be told: as asked");
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    if (cold_ready(fd, 0, SIZE) == SIZE) {
        ok(1, "# skip this file system keeps it, or does not tell");
    }
    else {
        took = wait_for_all(fd);
        ok(took >= 0, "not in memory: there %d ms later", took);
    }
    return done();
}
