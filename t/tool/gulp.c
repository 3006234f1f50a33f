/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One client that takes all it can get:
 *
 *   gulp PORT PATH SECONDS
 *
 * Reads the answer as fast as it comes, without looking at it, for at most
 * so many seconds or until SIGTERM. Prints "begun" at the first bytes, and in
 * the end "read N longest T": bytes, and the longest time without any, in
 * milliseconds.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define GULP (1 << 20)

static volatile sig_atomic_t stop;

static void stopped(int signal)
{
    stop = 1;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* @return the socket, or -1 with a message */
static int ask(int port, const char *path)
{
    struct sockaddr_in to = {.sin_family = AF_INET};
    char text[512];
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int len = snprintf(text, sizeof(text),
                       "GET %s HTTP/1.1\r\nHost: localhost\r\n"
                       "Connection: close\r\n\r\n",
                       path);

    to.sin_port = htons((uint16_t)port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || len < 0 || (size_t)len >= sizeof(text)
        || connect(fd, (struct sockaddr *)&to, sizeof(to))
        || send(fd, text, (size_t)len, MSG_NOSIGNAL) != len) {
        fprintf(stderr, "gulp: %s\n", strerror(errno));
        return -1;
    }
    return fd;
}

int main(int argc, char **argv)
{
    long long total = 0;
    double end, last, longest = 0;
    ssize_t n;
    int fd;

    if (argc != 4) {
        fprintf(stderr, "usage: gulp PORT PATH SECONDS\n");
        return 2;
    }
    fd = ask((int)strtol(argv[1], NULL, 10), argv[2]);
    if (fd < 0) {
        return 1;
    }
    signal(SIGTERM, stopped);
    last = now();
    end = last + strtod(argv[3], NULL);
    /* TCP throws the bytes away with MSG_TRUNC: nobody reads faster */
    while (!stop && last < end && (n = recv(fd, NULL, GULP, MSG_TRUNC)) > 0) {
        double t = now();

        if (!total) {
            printf("begun\n");
            fflush(stdout);
        }
        total += n;
        longest = t - last > longest ? t - last : longest;
        last = t;
    }
    printf("read %lld longest %.0f\n", total, longest * 1e3);
    return 0;
}
