/*
 * The static loop's answers, driven from a test over a pipe:
 *   learn HEADLEN SIZE FLAGS\n HEAD          -> "ok\n" or "refused WHY\n"
 *   ask LEN KEEPALIVES ON MAX TIMEOUT STOPPING SECONDS\n REQUEST
 *       -> "not-mine\n", "incomplete\n", "decline\n", or
 *          "reply STATUS KEEPALIVE KEEPALIVES HEADLEN OFF LEN\n" HEAD
 *   verify LEN KEEPALIVES ON MAX TIMEOUT SENTLEN\n REQUEST SENT
 *       -> "yes\n" or "no\n"
 */
#include "fixed/answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char head[65536], copy[65536], bytes[65536], sent[65536];
static answer learned;

static int take(char *to, size_t len)
{
    return len < sizeof(bytes) && fread(to, 1, len, stdin) == len;
}

static void learn(size_t len, long size, unsigned flags)
{
    const char *error;

    if (!take(head, len)) {
        exit(1);
    }
    if (answer_learn(&learned, head, len, size, flags, copy, &error)) {
        printf("refused %s\n", error);
    }
    else {
        printf("ok\n");
    }
}

static void ask(size_t len, const answer_connection *conn, long seconds)
{
    static const char *const verdicts[] = {"", "not-mine", "incomplete"};
    answer_clock clock;
    answer_reply reply;
    request req;
    request_verdict v;

    if (!take(bytes, len)) {
        exit(1);
    }
    answer_clock_set(&clock, seconds);
    v = request_recognise(bytes, len, NULL, &req);
    if (v != REQUEST_MINE) {
        printf("%s\n", verdicts[v]);
    }
    else if (!answer_make(&learned, &req, bytes, &clock, conn, sent,
                          sizeof(sent), &reply)) {
        printf("decline\n");
    }
    else {
        printf("reply %d %d %d %zu %ld %ld\n", reply.status, reply.keepalive,
               reply.keepalives, reply.head_len, (long)reply.body_off,
               (long)reply.body_len);
        fwrite(sent, 1, reply.head_len, stdout);
    }
}

static void verify(size_t len, const answer_connection *conn, size_t sent_len)
{
    request req;

    if (!take(bytes, len) || !take(sent, sent_len)) {
        exit(1);
    }
    printf("%s\n",
           request_recognise(bytes, len, NULL, &req) == REQUEST_MINE
                   && answer_verify(&learned, &req, bytes, conn, sent, sent_len)
               ? "yes"
               : "no");
}

int main(void)
{
    char line[256];

    while (fgets(line, sizeof(line), stdin)) {
        answer_connection conn = {0};
        size_t len, sent_len;
        long number;
        unsigned flags;

        if (sscanf(line, "learn %zu %ld %u", &len, &number, &flags) == 3) {
            learn(len, number, flags);
        }
        else if (sscanf(line, "ask %zu %d %d %d %ld %d %ld", &len,
                        &conn.keepalives, &conn.keep_alive, &conn.max,
                        &conn.timeout, &conn.stopping, &number)
                 == 7) {
            ask(len, &conn, number);
        }
        else if (sscanf(line, "verify %zu %d %d %d %ld %zu", &len,
                        &conn.keepalives, &conn.keep_alive, &conn.max,
                        &conn.timeout, &sent_len)
                 == 6) {
            verify(len, &conn, sent_len);
        }
        else {
            return 2;
        }
        fflush(stdout);
    }
    return 0;
}
