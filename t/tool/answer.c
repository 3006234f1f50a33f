/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The static loop's answers, driven from a test over a pipe:
 *   learn HEADLEN SIZE FLAGS\n HEAD          -> "ok\n" or "refused WHY\n"
 *   ask LEN KEEPALIVES ON MAX TIMEOUT STOPPING SECONDS\n REQUEST
 *       -> "not-mine\n", "incomplete\n", "decline\n", or
 *          "reply STATUS KEEPALIVE KEEPALIVES HEADLEN OFF LEN\n" HEAD
 *   verify LEN KEEPALIVES ON MAX TIMEOUT SENTLEN\n REQUEST SENT
 *       -> "yes\n" or "no\n"
 */
#include "http/response.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char head[65536], copy[65536], bytes[65536], sent[65536];
static response learned;

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
    if (response_learn(&learned, head, len, size, flags, copy, &error)) {
        printf("refused %s\n", error);
    }
    else {
        printf("ok\n");
    }
}

static void ask(size_t len, const response_connection *conn, long seconds)
{
    static const char *const verdicts[] = {"", "not-mine", "incomplete"};
    response_clock clock;
    response_reply reply;
    request req;
    request_verdict v;

    if (!take(bytes, len)) {
        exit(1);
    }
    response_clock_set(&clock, seconds);
    v = request_recognise(bytes, len, NULL, &req);
    if (v != REQUEST_MINE) {
        printf("%s\n", verdicts[v]);
    }
    else if (response_make(&learned, &req, bytes, &clock, conn, sent,
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

static void verify(size_t len, const response_connection *conn, size_t sent_len)
{
    request req;

    if (!take(bytes, len) || !take(sent, sent_len)) {
        exit(1);
    }
    printf("%s\n", request_recognise(bytes, len, NULL, &req) == REQUEST_MINE
                           && response_is_exact(&learned, &req, bytes, conn,
                                                sent, sent_len)
                       ? "yes"
                       : "no");
}

/* Splits "word number number …" in place. @return how many numbers */
static int numbers(char *line, long out[8])
{
    char *p = strchr(line, ' '), *end;
    int n = 0;

    while (p && n < 8) {
        out[n] = strtol(p, &end, 10);
        if (end == p) {
            break;
        }
        n++;
        p = end;
    }
    line[strcspn(line, " \n")] = '\0';
    return n;
}

int main(void)
{
    char line[256];
    long v[8];

    while (fgets(line, sizeof(line), stdin)) {
        int n = numbers(line, v);

        if (!strcmp(line, "learn") && n == 3) {
            learn((size_t)v[0], v[1], (unsigned)v[2]);
        }
        else if (!strcmp(line, "ask") && n == 7) {
            response_connection conn = {(int)v[1], (int)v[2], (int)v[3], v[4],
                                        (int)v[5]};

            ask((size_t)v[0], &conn, v[6]);
        }
        else if (!strcmp(line, "verify") && n == 6) {
            response_connection conn = {(int)v[1], (int)v[2], (int)v[3], v[4],
                                        0};

            verify((size_t)v[0], &conn, (size_t)v[5]);
        }
        else {
            return 2;
        }
        fflush(stdout);
    }
    return 0;
}
