/* SPDX-License-Identifier: Apache-2.0 */
/* sharedmem: nobody changes the size of what is shared, nor what is published.
 */
#include "t/unit/tap.h"
#include "base/shared_mem.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE 10000
#define NOBODY 65534

/* The reason, when a call that must fail has failed; 0 when it has not. */
static int why(int rc)
{
    return rc < 0 ? errno : 0;
}

static void test_size(const shared_mem *m, const char *who)
{
    is_int(why(ftruncate(m->fd, 0)), EPERM, who);
    is_int(why(ftruncate(m->fd, SIZE - 1)), EPERM, "not by a byte");
    is_int(why(ftruncate(m->fd, 2 * SIZE)), EPERM, "nor does it grow");
    is_int(why(fcntl(m->fd, F_ADD_SEALS, F_SEAL_WRITE)), EPERM,
           "nor is it sealed further");
}

/* A hole is zeros for the others, and no end of theirs. */
static void test_hole(const shared_mem *m)
{
    memset(m->at, 'x', SIZE);
    if (!fallocate(m->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                   SIZE)) {
        ok(!((char *)m->at)[0] && !((char *)m->at)[SIZE - 1],
           "a hole can be read");
    }
}

static void test_memory(void)
{
    shared_mem m;
    pid_t pid;
    int status;

    is_int(shared_mem_make(&m, "test", SIZE), 0, "memory");
    ok(m.fd >= 0 && m.size == SIZE && !((char *)m.at)[SIZE - 1], "zeroed");
    ok(fcntl(m.fd, F_GETFD) & FD_CLOEXEC, "close-on-exec");
    test_size(&m, "its owner does not shrink it");
    fflush(stdout);
    pid = fork();
    if (!pid) {
        if (!getuid() && setuid(NOBODY)) {
            _exit(1);
        }
        ((char *)m.at)[0] = 'c';
        _exit(why(ftruncate(m.fd, 0)) != EPERM);
    }
    waitpid(pid, &status, 0);
    is_int(status, 0, "nor does a child as another user");
    is_int(((char *)m.at)[0], 'c', "which can write it");
    test_hole(&m);
    shared_mem_free(&m);
    is_int(fcntl(m.fd, F_GETFD), -1, "closed");
}

static void test_publish(void)
{
    char buf[16] = "";
    int fd = shared_mem_publish("test", "a plan", 6);

    is_int(pread(fd, buf, sizeof(buf), 0), 6, "published");
    is_str(buf, "a plan", "what it was");
    is_int(why((int)pwrite(fd, "x", 1, 0)), EPERM, "nobody writes it");
    is_int(why(ftruncate(fd, 0)), EPERM, "or shrinks it");
    ok(mmap(NULL, 6, PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED,
       "or maps it to write");
    close(fd);
}

int main(void)
{
    test_memory();
    test_publish();
    return done();
}
