/* board: order, wrapping, slow readers, writers that meet and die.
 * links: src/fixed/board.c
 */
#include "t/unit/tap.h"
#include "fixed/board.h"

#include <errno.h>
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

static int post(board *b, const void *bytes, size_t len)
{
    struct iovec part = {(void *)bytes, len};

    return board_post(b, &part, 1);
}

static void test_order(void)
{
    board *b = board_make(WORDS);
    board_reader early, late;
    struct iovec parts[3] = {{"on", 2}, {"", 0}, {"e message", 9}};
    char buf[LONGEST];
    size_t n;

    board_follow(&early, b);
    ok(board_read(&early, buf, sizeof(buf)) == 0, "nothing at first");
    ok(!board_post(b, parts, 3), "posted in parts");
    board_follow(&late, b);
    ok(!post(b, "two", 3), "and in one");
    n = board_read(&early, buf, sizeof(buf));
    ok(n == 11 && !memcmp(buf, "one message", 11), "the parts are one");
    n = board_read(&early, buf, sizeof(buf));
    ok(n == 3 && !memcmp(buf, "two", 3), "then the next");
    ok(board_read(&early, buf, sizeof(buf)) == 0, "then nothing");
    n = board_read(&late, buf, sizeof(buf));
    ok(n == 3 && !memcmp(buf, "two", 3), "who came late hears what is new");
    ok(early.lost == 0 && late.lost == 0, "nothing is lost");
    board_free(b);
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
    board *b = board_make(WORDS);
    board_reader r;
    char in[LONGEST], out[LONGEST];
    uint32_t n;
    int good = 0;

    board_follow(&r, b);
    for (n = 0; n < 5000; n++) {
        size_t len = message(n, in);

        post(b, in, len);
        good +=
            board_read(&r, out, sizeof(out)) == len && !memcmp(in, out, len);
    }
    ok(good == 5000, "5000 messages around the ring");
    for (n = 0; n < 100; n++) {
        post(b, in, message(n, in));
    }
    ok(board_read(&r, out, sizeof(out)) == 0 && r.lost == 1,
       "who is too slow has lost them");
    post(b, "new", 3);
    ok(board_read(&r, out, sizeof(out)) == 3, "and reads what comes then");
    board_free(b);
}

static void test_bounds(void)
{
    board *b = board_make(64);
    board_reader r;
    char buf[512];

    memset(buf, 'x', sizeof(buf));
    board_follow(&r, b);
    ok(post(b, buf, 128) && errno == EMSGSIZE, "longer than a quarter");
    ok(!post(b, buf, 100) && !post(b, "y", 1), "as long as may be");
    ok(board_read(&r, buf, 50) == 1 && buf[0] == 'y',
       "longer than the buffer: skipped");
    ok(post(b, "", 0) && errno == EMSGSIZE, "nothing is no message");
    ok(board_read(&r, buf, 50) == 0 && r.lost == 0, "and is not read");
    board_free(b);
}

/* Posts until it is killed. */
static void shout(board *b, uint32_t n)
{
    char buf[LONGEST];

    for (;; n += 2) {
        post(b, buf, message(n, buf));
        if (n % 64 < 2) {
            sched_yield();
        }
    }
}

static pid_t shouter(board *b, uint32_t n)
{
    pid_t pid = fork();

    if (!pid) {
        shout(b, n);
    }
    return pid;
}

static void test_processes(void)
{
    board *b = board_make(WORDS);
    board_reader r;
    char buf[LONGEST];
    long whole = 0, torn = 0, i;
    pid_t pids[2];
    int round, alive = 0;

    board_follow(&r, b);
    for (round = 0; round < 100; round++) {
        size_t len = 0;

        pids[0] = shouter(b, 0);
        pids[1] = shouter(b, 1);
        for (i = 0; i < 200000 && (i < 10000 || !len); i++) {
            len = board_read(&r, buf, sizeof(buf));
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
    while (board_read(&r, buf, sizeof(buf))) {
        ;
    }
    for (i = 0; i < 20; i++) {
        size_t len = message((uint32_t)i, buf);

        if (post(b, buf, len) || board_read(&r, buf, sizeof(buf)) != len) {
            break;
        }
    }
    ok(i == 20, "nor later");
    board_free(b);
}

int main(void)
{
    test_order();
    test_wrap();
    test_bounds();
    test_processes();
    return done();
}
