/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slow clients, many of them:
 *
 *   crowd PORT HEADS READERS PATH
 *
 * HEADS connections send the head of a request that never ends, a byte a
 * second each; READERS ask for PATH and take 256 bytes a second through a
 * small window. Prints "open N" once all are there and have begun, goes on
 * until stdin ends, then prints "sent S read R lost L": bytes, and
 * connections that the server has ended.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define TICK 10     /* milliseconds */
#define TURNS 100   /* ticks until a connection's turn comes again */
#define SIP 256     /* bytes that a reader takes in a turn */
#define WINDOW 4096 /* of a reader */
#define BURST 64    /* connections opened without a pause */

typedef struct client {
    int fd; /* -1: the server has ended it */
    int reads;
} client;

static client *clients;
static int count;
static struct {
    long sent, read, lost;
} total;

static int fail(const char *what)
{
    fprintf(stderr, "crowd: %s: %s\n", what, strerror(errno));
    return -1;
}

/* @return 0, or -1 with a message */
static int client_open(client *c, int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET};
    int on = 1, window = WINDOW;

    to.sin_port = htons((uint16_t)port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd < 0) {
        return fail("socket");
    }
    if (c->reads
        && setsockopt(c->fd, SOL_SOCKET, SO_RCVBUF, &window, sizeof(window))) {
        return fail("SO_RCVBUF");
    }
    if (setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on))) {
        return fail("TCP_NODELAY");
    }
    if (connect(c->fd, (struct sockaddr *)&to, sizeof(to))) {
        return fail("connect");
    }
    return 0;
}

/* @return 0, or -1 with a message */
static int client_begin(client *c, const char *path)
{
    char text[512];
    int len =
        snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nHost: localhost\r\n%s",
                 path, c->reads ? "\r\n" : "User-Agent: s");

    if (len < 0 || (size_t)len >= sizeof(text)
        || send(c->fd, text, (size_t)len, MSG_NOSIGNAL) != len) {
        return fail("send");
    }
    return 0;
}

static void client_turn(client *c)
{
    char bytes[SIP];
    ssize_t n;

    if (c->fd < 0) {
        return;
    }
    n = recv(c->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN)) {
        close(c->fd);
        c->fd = -1;
        total.lost++;
        return;
    }
    total.read += n > 0 ? n : 0;
    if (!c->reads && send(c->fd, "l", 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1) {
        total.sent++;
    }
}

/* One turn for all, spread over a second. @return 1: stdin has ended */
static int round_of_turns(void)
{
    struct pollfd in = {STDIN_FILENO, POLLIN, 0};
    int turn, i;

    for (turn = 0; turn < TURNS; turn++) {
        for (i = turn; i < count; i += TURNS) {
            client_turn(&clients[i]);
        }
        if (poll(&in, 1, TICK) > 0) {
            return 1;
        }
    }
    return 0;
}

static int open_all(int port, int readers, const char *path)
{
    int i;

    for (i = 0; i < count; i++) {
        /* mixed, so that each tick has some of each */
        clients[i].reads =
            (int)((long)i * readers / count != (long)(i + 1) * readers / count);
        if (client_open(&clients[i], port) || client_begin(&clients[i], path)) {
            return -1;
        }
        if (i % BURST == 0) {
            /* or the listening socket's queue overflows */
            poll(NULL, 0, 2);
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    int heads, readers;

    if (argc != 5) {
        fprintf(stderr, "usage: crowd PORT HEADS READERS PATH\n");
        return 2;
    }
    heads = (int)strtol(argv[2], NULL, 10);
    readers = (int)strtol(argv[3], NULL, 10);
    count = heads + readers;
    clients = count > 0 ? calloc((size_t)count, sizeof(*clients)) : NULL;
    if (!clients) {
        fprintf(stderr, "crowd: no clients\n");
        return 2;
    }
    if (open_all((int)strtol(argv[1], NULL, 10), readers, argv[4])) {
        return 1;
    }
    printf("open %d\n", count);
    fflush(stdout);
    while (!round_of_turns()) {
    }
    printf("sent %ld read %ld lost %ld\n", total.sent, total.read, total.lost);
    return 0;
}
