/* SPDX-License-Identifier: Apache-2.0 */
/* shm_ring: order, wrapping, slow readers, writers that meet and die, and one
 * that writes what it likes.
 */
#include "t/unit/tap.h"
#include "base/shm_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS 4096
#define LONGEST 1000

static int post(shm_ring *b, const void *bytes, size_t len)
{
    struct iovec part = {(void *)bytes, len};

    return shm_ring_post(b, &part, 1);
}

static void test_order(void)
{
    shm_ring *b = shm_ring_make(WORDS);
    shm_ring_reader early, late;
    struct iovec parts[3] = {{"on", 2}, {"", 0}, {"e message", 9}};
    char buf[LONGEST];
    size_t n;

    shm_ring_follow(&early, b);
    ok(shm_ring_read(&early, buf, sizeof(buf)) == 0, "nothing at first");
    ok(!shm_ring_post(b, parts, 3), "posted in parts");
    shm_ring_follow(&late, b);
    ok(!post(b, "two", 3), "and in one");
    n = shm_ring_read(&early, buf, sizeof(buf));
    ok(n == 11 && !memcmp(buf, "one message", 11), "the parts are one");
    n = shm_ring_read(&early, buf, sizeof(buf));
    ok(n == 3 && !memcmp(buf, "two", 3), "then the next");
    ok(shm_ring_read(&early, buf, sizeof(buf)) == 0, "then nothing");
    n = shm_ring_read(&late, buf, sizeof(buf));
    ok(n == 3 && !memcmp(buf, "two", 3), "who came late hears what is new");
    ok(early.lost == 0 && late.lost == 0, "nothing is lost");
    shm_ring_free(b);
}

/* Message number @a n: its length and all of its bytes follow from n. */
static size_t message(uint32_t n, char *buf)
{
    size_t len = 4 + n * 37 % (LONGEST - 4);

    memset(buf, (int)(n % 251), len);
    memcpy(buf, &n, 4);
    return len;
}

static int is_whole(const char *buf, size_t len)
{
    char want[LONGEST];
    uint32_t n;

    memcpy(&n, buf, 4);
    return message(n, want) == len && !memcmp(want, buf, len);
}

static void test_wrap(void)
{
    shm_ring *b = shm_ring_make(WORDS);
    shm_ring_reader r;
    char in[LONGEST], out[LONGEST];
    uint32_t n;
    int good = 0;

    shm_ring_follow(&r, b);
    for (n = 0; n < 5000; n++) {
        size_t len = message(n, in);

        post(b, in, len);
        good +=
            shm_ring_read(&r, out, sizeof(out)) == len && !memcmp(in, out, len);
    }
    ok(good == 5000, "5000 messages around the ring");
    for (n = 0; n < 100; n++) {
        post(b, in, message(n, in));
    }
    ok(shm_ring_read(&r, out, sizeof(out)) == 0 && r.lost == 1,
       "who is too slow has lost them");
    post(b, "new", 3);
    ok(shm_ring_read(&r, out, sizeof(out)) == 3, "and reads what comes then");
    shm_ring_free(b);
}

static void test_bounds(void)
{
    shm_ring *b = shm_ring_make(64);
    shm_ring_reader r;
    char buf[512];

    memset(buf, 'x', sizeof(buf));
    shm_ring_follow(&r, b);
    ok(post(b, buf, 128) && errno == EMSGSIZE, "longer than a quarter");
    ok(!post(b, buf, 100) && !post(b, "y", 1), "as long as may be");
    ok(shm_ring_read(&r, buf, 50) == 1 && buf[0] == 'y',
       "longer than the buffer: skipped");
    ok(post(b, "", 0) && errno == EMSGSIZE, "nothing is no message");
    ok(shm_ring_read(&r, buf, 50) == 0 && r.lost == 0, "and is not read");
    shm_ring_free(b);
}

/* Posts until it is killed. */
static void shout(shm_ring *b, uint32_t n)
{
    char buf[LONGEST];

    for (;; n += 2) {
        post(b, buf, message(n, buf));
        if (n % 64 < 2) {
            sched_yield();
        }
    }
}

static pid_t shouter(shm_ring *b, uint32_t n)
{
    pid_t pid = fork();

    if (!pid) {
        shout(b, n);
    }
    return pid;
}

static void test_processes(void)
{
    shm_ring *b = shm_ring_make(WORDS);
    shm_ring_reader r;
    char buf[LONGEST];
    long whole = 0, torn = 0, i;
    pid_t pids[2];
    int round, alive = 0;

    shm_ring_follow(&r, b);
    for (round = 0; round < 100; round++) {
        size_t len = 0;

        pids[0] = shouter(b, 0);
        pids[1] = shouter(b, 1);
        for (i = 0; i < 200000 && (i < 10000 || !len); i++) {
            len = shm_ring_read(&r, buf, sizeof(buf));
            if (len) {
                is_whole(buf, len) ? whole++ : torn++;
            }
            else {
                sched_yield();
            }
        }
        alive += len > 0;
        kill(pids[0], SIGKILL);
        kill(pids[1], SIGKILL);
        waitpid(pids[0], NULL, 0);
        waitpid(pids[1], NULL, 0);
    }
    printf("# %ld messages read, %lu times too slow\n", whole,
           (unsigned long)r.lost);
    ok(torn == 0, "none of them is torn");
    ok(alive == 100, "who dies while posting keeps nobody from it");
    while (shm_ring_read(&r, buf, sizeof(buf))) {
        ;
    }
    for (i = 0; i < 20; i++) {
        size_t len = message((uint32_t)i, buf);

        if (post(b, buf, len) || shm_ring_read(&r, buf, sizeof(buf)) != len) {
            break;
        }
    }
    ok(i == 20, "nor later");
    shm_ring_free(b);
}

/* The memory of the only ring there is, by its memfd. */
static unsigned char *memory_of_board(size_t *size, int *fd)
{
    char path[64], name[64];
    ssize_t n;

    for (*fd = 3; *fd < 64; (*fd)++) {
        snprintf(path, sizeof(path), "/proc/self/fd/%d", *fd);
        n = readlink(path, name, sizeof(name) - 1);
        if (n > 0 && (name[n] = '\0', strstr(name, "cpuaffinity-ring"))) {
            break;
        }
    }
    *size = (size_t)lseek(*fd, 0, SEEK_END);
    return mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
}

/* Random values that are often small, often all ones, or near each other. */
static uint64_t wild(void)
{
    uint64_t n = (uint64_t)random() << 33 ^ (uint64_t)random() << 11
                 ^ (uint64_t)random();

    return n >> (random() % 64) ^ (random() % 3 ? 0 : ~UINT64_C(0));
}

/* Whatever stands in the memory: a reader stays within it and its buffer,
 * comes back, and reads what is posted then; a writer too. */
static void test_hostile(void)
{
    shm_ring *b = shm_ring_make(WORDS);
    char *buf = malloc(LONGEST), in[LONGEST];
    size_t size, i, len, bad = 0, stuck = 0;
    unsigned char *memory;
    shm_ring_reader r;
    uint64_t w;
    int fd, round;

    memory = memory_of_board(&size, &fd);
    ok(memory != MAP_FAILED && size == 16 + WORDS * 8, "its memory");
    srandom(7);
    shm_ring_follow(&r, b);
    for (round = 0; round < 20000; round++) {
        /* reserved and head, now and then all of it */
        for (i = 0; i < (round % 100 ? 16 : size); i += 8) {
            w = wild();
            memcpy(memory + i, &w, 8);
        }
        w = r.at + wild() % 64; /* a head that will be believed */
        memcpy(memory + 8, &w, 8);
        for (i = 0; i < 3; i++) {
            len = shm_ring_read(&r, buf, LONGEST);
            bad += len > LONGEST;
        }
        len = message((uint32_t)round, in);
        for (i = 0; i < 64 && shm_ring_read(&r, buf, LONGEST); i++) {
            ;
        }
        if (post(b, in, len)) {
            stuck++;
        }
        if (shm_ring_read(&r, buf, LONGEST) != len || memcmp(buf, in, len)) {
            w = 0; /* "reserved" is where nobody comes: said to be lost */
            memcpy(memory, &w, 8);
        }
    }
    is_int((long)bad, 0, "no message is longer than the buffer");
    is_int((long)stuck, 0, "none keeps us from posting");
    munmap(memory, size);
    free(buf);
    shm_ring_free(b);
}

/* Who has the lock and keeps it costs the others their messages, no time. */
static void test_held(void)
{
    shm_ring *b = shm_ring_make(WORDS);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    int fd, ready[2], errors = 0, i;
    size_t size;
    char c;
    pid_t pid;

    munmap(memory_of_board(&size, &fd), WORDS);
    if (pipe(ready)) {
        exit(1);
    }
    pid = fork();
    if (!pid) {
        c = fcntl(fd, F_SETLK, &lock) ? 'n' : 'y';
        _exit(write(ready[1], &c, 1) != 1 || pause());
    }
    ok(read(ready[0], &c, 1) == 1 && c == 'y', "another holds the lock");
    for (i = 0; i < 1000; i++) {
        errors += post(b, "x", 1) && errno == EBUSY;
    }
    is_int(errors, 1000, "a post is lost at once");
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    is_int(post(b, "x", 1), 0, "until its end");
    shm_ring_free(b);
}

int main(void)
{
    test_order();
    test_wrap();
    test_bounds();
    test_processes();
    test_hostile();
    test_held();
    return done();
}
