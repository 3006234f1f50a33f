/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client that speaks HTTP/2 in clear text and counts what becomes of each
 * of its requests:
 *
 *   streams PORT CONNECTIONS STREAMS PATH
 *
 * Each connection has up to STREAMS requests for PATH open, all the time. When
 * the server says that it ends (GOAWAY), or ends it, another takes its place.
 * Goes on until stdin ends, waits for what is open, then prints
 * "answered A lost L refused R connections C failed F":
 *   lost      taken by the server, or so one must believe, and not answered
 *   refused   not taken: above the last one of a GOAWAY, or REFUSED_STREAM
 *   failed    connections that could not be made
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define STREAMS 64         /* at most, per connection */
#define BUFFER (1 << 16)   /* more than a frame can have: 16384 by default */
#define PATIENCE 20000     /* ms without anything: the rest is lost */
#define LAST_ID 0x3fffffff /* another connection long before */

enum {
    DATA,
    HEADERS,
    RST_STREAM = 3,
    SETTINGS,
    PING = 6,
    GOAWAY,
    UPDATE
};
#define FLAG_ACK 1
#define FLAG_END 1
#define REFUSED_STREAM 7

typedef struct client {
    int fd; /* -1: to be opened */
    int ends;
    uint32_t next;          /* id of the next stream */
    uint32_t open[STREAMS]; /* 0: free */
    int good[STREAMS];      /* its answer began with 200 */
    unsigned char in[BUFFER];
    size_t len;
} client;

static struct {
    struct sockaddr_in to;
    int streams;
    int over; /* no new requests */
    const char *path;
    long answered, lost, refused, connections, failed;
} all;

static void put32(unsigned char *p, uint32_t n)
{
    n = htonl(n);
    memcpy(p, &n, 4);
}

static uint32_t get32(const unsigned char *p)
{
    uint32_t n;

    memcpy(&n, p, 4);
    return ntohl(n);
}

/* Small frames: the socket has room for them, or the server is stuck. */
static void frame(client *c, int type, int flags, uint32_t id,
                  const void *payload, size_t len)
{
    unsigned char out[9 + 256];

    put32(out, (uint32_t)len << 8);
    out[3] = (unsigned char)type;
    out[4] = (unsigned char)flags;
    put32(out + 5, id);
    memcpy(out + 9, payload, len);
    /* A server that has gone is seen by the next read. */
    if (send(c->fd, out, 9 + len, MSG_NOSIGNAL) < 0 && errno == EAGAIN) {
        fprintf(stderr, "streams: the server reads nothing\n");
    }
}

static void count(client *c, int i, long *what)
{
    c->open[i] = 0;
    ++*what;
}

static void give_up(client *c)
{
    int i;

    for (i = 0; i < all.streams; i++) {
        if (c->open[i]) {
            count(c, i, &all.lost);
        }
    }
    close(c->fd);
    c->fd = -1;
}

static void begin(client *c)
{
    static const unsigned char settings[6] = {0, 4, 0, 16, 0, 0}; /* window */
    static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    unsigned char update[4];
    int one = 1;

    c->len = 0;
    c->ends = 0;
    c->next = 1;
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd < 0 || connect(c->fd, (void *)&all.to, sizeof(all.to))) {
        all.failed++;
        close(c->fd);
        c->fd = -1;
        usleep(1000);
        return;
    }
    all.connections++;
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    fcntl(c->fd, F_SETFL, O_NONBLOCK);
    send(c->fd, preface, sizeof(preface) - 1, MSG_NOSIGNAL);
    frame(c, SETTINGS, 0, 0, settings, sizeof(settings));
    put32(update, 0x7fff0000 - 65535);
    frame(c, UPDATE, 0, 0, update, sizeof(update));
}

static void ask(client *c, int i)
{
    unsigned char h[256];
    size_t n = 0, len = strlen(all.path);

    h[n++] = 0x82; /* :method GET */
    h[n++] = 0x86; /* :scheme http */
    h[n++] = 0x01; /* :authority, as it is */
    h[n++] = 1;
    h[n++] = 'a';
    h[n++] = 0x04; /* :path */
    h[n++] = (unsigned char)len;
    memcpy(h + n, all.path, len);
    c->open[i] = c->next;
    c->good[i] = 0;
    frame(c, HEADERS, 4 | FLAG_END, c->next, h, n + len);
    c->next += 2;
}

static void fill(client *c)
{
    int i, open = 0;

    for (i = 0; i < all.streams; i++) {
        if (!c->open[i] && !c->ends && !all.over && c->next < LAST_ID) {
            ask(c, i);
        }
        open += c->open[i] != 0;
    }
    if (!open) {
        give_up(c);
    }
}

static void going(client *c, uint32_t last)
{
    int i;

    c->ends = 1;
    for (i = 0; i < all.streams; i++) {
        if (c->open[i] > last) {
            count(c, i, &all.refused);
        }
    }
}

/* :status 200 comes first, but for a change of the table's size. */
static int is_good(const unsigned char *p, size_t len)
{
    size_t i = 0;

    while (i < len && (p[i] & 0xe0) == 0x20) {
        do {
            i++;
        } while (i < len && (p[i - 1] & (i == 1 ? 0x1f : 0x80)) == 0x1f);
    }
    return i < len && p[i] == 0x88;
}

static void stream_frame(client *c, int type, int flags, uint32_t id,
                         const unsigned char *p, size_t len)
{
    int i;

    for (i = 0; i < all.streams && c->open[i] != id; i++) {
    }
    if (i == all.streams) {
        return;
    }
    if (type == RST_STREAM) {
        count(c, i,
              len == 4 && get32(p) == REFUSED_STREAM ? &all.refused
                                                     : &all.lost);
        return;
    }
    if (type == HEADERS) {
        c->good[i] = is_good(p, len);
    }
    if (flags & FLAG_END) {
        count(c, i, c->good[i] ? &all.answered : &all.lost);
    }
}

static void take(client *c, const unsigned char *f, size_t len)
{
    int type = f[3], flags = f[4];
    uint32_t id = get32(f + 5) & 0x7fffffff;
    const unsigned char *p = f + 9;

    if (type == GOAWAY && len >= 8) {
        going(c, get32(p) & 0x7fffffff);
    }
    else if ((type == SETTINGS || type == PING) && !(flags & FLAG_ACK)) {
        frame(c, type, FLAG_ACK, 0, p, type == PING ? len : 0);
    }
    else if (id && (type == DATA || type == HEADERS || type == RST_STREAM)) {
        stream_frame(c, type, flags, id, p, len);
    }
}

static void readable(client *c)
{
    ssize_t n = recv(c->fd, c->in + c->len, sizeof(c->in) - c->len, 0);
    size_t at = 0;

    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (n <= 0) {
        give_up(c);
        return;
    }
    c->len += (size_t)n;
    while (c->len - at >= 9) {
        size_t len = get32(c->in + at) >> 8;

        if (len > sizeof(c->in) - 9) {
            give_up(c);
            return;
        }
        if (c->len - at < 9 + len) {
            break;
        }
        take(c, c->in + at, len);
        at += 9 + len;
    }
    memmove(c->in, c->in + at, c->len -= at);
    fill(c);
}

static int turn(client *clients, struct pollfd *p, int n)
{
    int i, open = 0;

    for (i = 0; i < n; i++) {
        if (clients[i].fd < 0 && !all.over) {
            begin(&clients[i]);
            if (clients[i].fd >= 0) {
                fill(&clients[i]);
            }
        }
        p[i] = (struct pollfd){clients[i].fd, POLLIN, 0};
        open += clients[i].fd >= 0;
    }
    p[n] = (struct pollfd){all.over ? -1 : STDIN_FILENO, POLLIN, 0};
    if (all.over && !open) {
        return 0;
    }
    if (poll(p, (nfds_t)n + 1, PATIENCE) == 0) {
        for (i = 0; i < n; i++) {
            if (clients[i].fd >= 0) {
                give_up(&clients[i]);
            }
        }
    }
    for (i = 0; i < n; i++) {
        if (p[i].fd >= 0 && p[i].revents) {
            readable(&clients[i]);
        }
    }
    all.over |= p[n].revents != 0;
    return 1;
}

int main(int argc, char **argv)
{
    client *clients;
    struct pollfd *p;
    int n, i;

    if (argc != 5 || strlen(argv[4]) > 100) {
        fprintf(stderr, "usage: streams PORT CONNECTIONS STREAMS PATH\n");
        return 2;
    }
    all.to.sin_family = AF_INET;
    all.to.sin_port = htons((uint16_t)atoi(argv[1]));
    all.to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    all.path = argv[4];
    all.streams = atoi(argv[3]) < STREAMS ? atoi(argv[3]) : STREAMS;
    n = atoi(argv[2]);
    clients = n > 0 ? calloc((size_t)n, sizeof(*clients)) : NULL;
    p = n > 0 ? calloc((size_t)n + 1, sizeof(*p)) : NULL;
    if (!clients || !p) {
        free(clients);
        free(p);
        return 2;
    }
    for (i = 0; i < n; i++) {
        clients[i].fd = -1;
    }
    while (turn(clients, p, n)) {
    }
    printf("answered %ld lost %ld refused %ld connections %ld failed %ld\n",
           all.answered, all.lost, all.refused, all.connections, all.failed);
    return 0;
}
