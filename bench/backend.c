/* SPDX-License-Identifier: Apache-2.0 */
/* A backend that serves one request at a time, for the "flaky" scenario:
 * mostly 10 to 50 ms, sometimes a whole second. Others wait in its backlog.
 *
 *   backend PORT SEED SLOW_PER_THOUSAND
 *
 * The service times are a function of the seed, so that every proxy meets
 * the same sequence.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static uint64_t state;

static uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Milliseconds that the next request takes. */
static unsigned service_time(unsigned slow_per_thousand)
{
    if (draw() % 1000 < slow_per_thousand) {
        return 1000;
    }
    return 10 + draw() % 41;
}

static void sleep_ms(unsigned ms)
{
    struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};

    while (nanosleep(&t, &t) == -1 && errno == EINTR) {
    }
}

static int open_listener(long port)
{
    struct sockaddr_in sa = {.sin_family = AF_INET};
    int on = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    sa.sin_port = htons((uint16_t)port);
    sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd == -1) {
        return -1;
    }
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)) == -1
        || listen(fd, 1024) == -1) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Reads one request's header. @return 0, or -1 when none came in 5 s */
static int read_request(int fd)
{
    char buf[8192];
    size_t have = 0;
    struct timeval limit = {5, 0};

    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    while (have < sizeof(buf)) {
        ssize_t n = recv(fd, buf + have, sizeof(buf) - have, 0);

        if (n <= 0) {
            return -1;
        }
        have += (size_t)n;
        if (memmem(buf, have, "\r\n\r\n", 4)) {
            return 0;
        }
    }
    return -1;
}

static void serve(int fd, unsigned slow_per_thousand)
{
    char text[256];
    unsigned ms;
    int length;

    if (read_request(fd) == -1) {
        return;
    }
    ms = service_time(slow_per_thousand);
    sleep_ms(ms);
    length = snprintf(text, sizeof(text),
                      "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                      "Content-Length: 5\r\nConnection: close\r\n\r\n%04u\n",
                      ms);
    (void)send(fd, text, (size_t)length, MSG_NOSIGNAL);
    (void)shutdown(fd, SHUT_WR);
}

int main(int argc, char **argv)
{
    int listener;
    long port, slow;

    if (argc != 4 || (port = strtol(argv[1], NULL, 10)) < 1 || port > 65535
        || (slow = strtol(argv[3], NULL, 10)) < 0 || slow > 1000) {
        fprintf(stderr, "usage: backend PORT SEED SLOW_PER_THOUSAND\n");
        return 2;
    }
    /* a state of 0 would stay 0 */
    state = strtoull(argv[2], NULL, 10) * 0x9E3779B97F4A7C15ULL + 1;
    listener = open_listener(port);
    if (listener == -1) {
        fprintf(stderr, "backend: port %ld: %s\n", port, strerror(errno));
        return 1;
    }
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

        if (fd == -1) {
            if (errno == EINTR || errno == ECONNABORTED) {
                continue;
            }
            fprintf(stderr, "backend: accept: %s\n", strerror(errno));
            return 1;
        }
        serve(fd, (unsigned)slow);
        close(fd);
    }
}
