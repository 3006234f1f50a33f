/* SPDX-License-Identifier: Apache-2.0 */
/* Many keep-alive connections of which few are active at a time (C10K).
 *
 *   idle [--tls] PORT PATH CONNECTIONS ACTIVE SECONDS LOGFILE [RATE]
 *
 * Opens all connections with one request on each, prints "ready N", waits
 * for a line on stdin (while the server's memory is measured), then keeps
 * ACTIVE requests in flight, each on a connection chosen at random among the
 * idle ones, for SECONDS. With RATE a request is due RATE times a second, and
 * goes out then or as soon as fewer than ACTIVE are in flight.
 * LOGFILE gets h2load's columns: start in µs since the epoch (with RATE when
 * it was due), status, µs.
 * Last line: "requests R bytes B closed C errors E".
 */
#include "tls_client.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define HEAD_MAX 2048

/* Small: this process's misses are not to be taken for the server's. */
struct conn {
    int64_t start; /* of the request in flight, 0 when idle */
    int64_t left;  /* of the body, -1 while in the header */
    char *part;    /* of a header, mostly NULL */
    SSL *ssl;      /* NULL: plain */
    uint32_t have; /* bytes in it */
    int fd;
    int status;
    int sent; /* the whole request */
};

static char bytes[65536];

static struct conn *conns;
static int *idle; /* indexes of idle connections */
static int nidle;
static int ep;
static SSL_CTX *ctx; /* NULL: plain */
static long port;
static char request[512];
static size_t request_len;
static FILE *log_file;
static int priming; /* the first request of each connection: not logged */
static struct {
    long requests, bytes, closed, errors;
} total;

static int64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void conn_close(struct conn *c)
{
    SSL_free(c->ssl);
    c->ssl = NULL;
    close(c->fd);
    c->fd = -1;
}

static ssize_t conn_recv(struct conn *c, char *into, size_t size)
{
    int out;

    return c->ssl ? tls_result(c->ssl, SSL_read(c->ssl, into, (int)size), &out)
                  : recv(c->fd, into, size, 0);
}

/* The first one on a TLS connection shakes hands. */
static ssize_t conn_send(struct conn *c)
{
    int out;

    return c->ssl ? tls_result(
               c->ssl, SSL_write(c->ssl, request, (int)request_len), &out)
                  : send(c->fd, request, request_len, MSG_NOSIGNAL);
}

/* Connects (blocking) and watches. @return 0, or -1 with errno */
static int conn_open(struct conn *c)
{
    struct sockaddr_in sa = {.sin_family = AF_INET};
    struct epoll_event ev = {.events = EPOLLIN, .data.ptr = c};
    int on = 1;

    sa.sin_port = htons((uint16_t)port);
    sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    c->start = 0;
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd == -1) {
        return -1;
    }
    if (connect(c->fd, (struct sockaddr *)&sa, sizeof(sa)) == -1
        || fcntl(c->fd, F_SETFL, O_NONBLOCK) == -1
        || epoll_ctl(ep, EPOLL_CTL_ADD, c->fd, &ev) == -1) {
        int e = errno;

        conn_close(c);
        errno = e;
        return -1;
    }
    (void)setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (ctx) {
        c->ssl = tls_client_new(ctx, c->fd);
    }
    return 0;
}

static void conn_done(struct conn *c, int status)
{
    int64_t now = now_us();

    if (!priming) {
        fprintf(log_file, "%lld\t%d\t%lld\n", (long long)c->start, status,
                (long long)(now - c->start));
    }
    total.requests += status == 200;
    total.errors += status != 200;
    c->start = 0;
    idle[nidle++] = (int)(c - conns);
}

/* The server closed it: counted, and opened again. */
static void conn_lost(struct conn *c)
{
    int busy = c->start != 0;

    total.closed++;
    conn_close(c);
    free(c->part);
    c->part = NULL;
    c->have = 0;
    if (busy) {
        conn_done(c, -1);
    }
    if (conn_open(c) == -1) {
        total.errors++;
    }
}

static int64_t body_length(const char *head)
{
    const char *field = strcasestr(head, "\r\nContent-Length:");

    return field ? strtoll(field + 17, NULL, 10) : -1;
}

/* The @a len bytes of the answer so far are in bytes.
 * @return 1 when the header is complete and c->left is set, 0 when not yet,
 * -1 when the answer is not understood */
static int conn_header(struct conn *c, size_t len)
{
    char *end;

    bytes[len] = 0;
    end = strstr(bytes, "\r\n\r\n");
    if (!end) {
        if (len >= HEAD_MAX || !(c->part = realloc(c->part, HEAD_MAX))) {
            return -1;
        }
        memcpy(c->part, bytes, len);
        c->have = (uint32_t)len;
        return 0;
    }
    end[2] = 0;
    c->left = body_length(bytes);
    if (c->left == -1) {
        return -1;
    }
    c->left -= (int64_t)len - (end + 4 - bytes);
    c->status = len > 12 ? (int)strtol(bytes + 9, NULL, 10) : 0;
    return 1;
}

/* Sends the request, or takes the handshake before it a step further. */
static void conn_push(struct conn *c)
{
    ssize_t n = c->fd == -1 ? -1 : conn_send(c);

    c->sent = n == (ssize_t)request_len;
    if (!c->sent && !(c->ssl && n == -1 && errno == EAGAIN)) {
        conn_lost(c);
    }
}

static void conn_readable(struct conn *c)
{
    size_t have = c->have;
    ssize_t n;

    if (c->start && !c->sent) {
        conn_push(c);
        return;
    }
    memcpy(bytes, c->part ? c->part : "", have);
    n = conn_recv(c, bytes + have, sizeof(bytes) - 1 - have);
    if (n <= 0) {
        if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
            conn_lost(c);
        }
        return;
    }
    total.bytes += n;
    if (c->start == 0) {
        conn_lost(c); /* bytes that nobody asked for */
        return;
    }
    if (c->left != -1) {
        c->left -= n;
    }
    else {
        int r = conn_header(c, have + (size_t)n);

        if (r == -1) {
            conn_lost(c);
        }
        if (r != 1) {
            return;
        }
        free(c->part);
        c->part = NULL;
        c->have = 0;
    }
    if (c->left <= 0) {
        conn_done(c, c->status);
    }
}

static void conn_request(struct conn *c, int64_t due)
{
    c->start = due;
    c->left = -1;
    conn_push(c);
}

static void start_one(int64_t due)
{
    int at = (int)(random() % nidle);
    struct conn *c = &conns[idle[at]];

    idle[at] = idle[--nidle];
    conn_request(c, due);
}

/* @param wait microseconds */
static void poll_once(int64_t wait)
{
    struct timespec t = {wait / 1000000, wait % 1000000 * 1000};
    struct epoll_event events[256];
    int n = epoll_pwait2(ep, events, 256, &t, NULL);

    for (int i = 0; i < n; i++) {
        conn_readable(events[i].data.ptr);
    }
}

/* Opens all and sends one request on each, 64 at a time, within 25 seconds
 * (TLS: 50).
 * A server that defers accept keeps what has sent nothing in a short queue, so
 * opening all of them first would overrun it. @return 0, or -1 with a message
 */
static int prime(int connections)
{
    int64_t end = now_us() + (ctx ? 50000000 : 25000000);
    int opened = 0;

    priming = 1;
    while (nidle < connections && now_us() < end) {
        while (opened < connections && opened - nidle < 64) {
            struct conn *c = &conns[opened++];

            if (conn_open(c) == -1) {
                fprintf(stderr, "idle: connection %d: %s\n", opened,
                        strerror(errno));
                return -1;
            }
            conn_request(c, now_us());
        }
        poll_once(100000);
    }
    priming = 0;
    if (nidle < connections || total.errors || total.closed) {
        fprintf(stderr, "idle: of %d connections %d answered, %ld closed\n",
                connections, nidle, total.closed);
        return -1;
    }
    memset(&total, 0, sizeof(total));
    return 0;
}

/* Starts what is due. @return microseconds until there is more to start */
static int64_t start_due(int room, double rate, double *due)
{
    int64_t now = now_us();

    for (; room > 0 && (rate == 0 || *due <= (double)now); room--) {
        start_one(rate == 0 ? now : (int64_t)*due);
        *due += rate == 0 ? 0 : 1e6 / rate;
    }
    return rate == 0 || room == 0 ? 100000 : (int64_t)*due - now + 1;
}

static void run(int connections, int active, double seconds, double rate)
{
    int64_t end = now_us() + (int64_t)(seconds * 1e6);
    int64_t grace = end + 5000000;
    double due = (double)now_us();

    while (now_us() < grace) {
        int64_t wait = 100000;

        if (now_us() < end) {
            wait = start_due(active - (connections - nidle), rate, &due);
        }
        else if (nidle == connections) {
            return;
        }
        poll_once(wait);
    }
    /* what was not answered five seconds after the end */
    total.errors += connections - nidle;
}

int main(int argc, char **argv)
{
    int connections, active;
    char line[16];

    if (argc > 1 && !strcmp(argv[1], "--tls")) {
        argc--;
        argv++;
        ctx = tls_client_context();
        if (!ctx) {
            fprintf(stderr, "idle: no TLS\n");
            return 1;
        }
    }
    if (argc != 7 && argc != 8) {
        fprintf(stderr,
                "usage: idle [--tls] PORT PATH CONNECTIONS ACTIVE SECONDS "
                "LOGFILE [RATE]\n");
        return 2;
    }
    port = strtol(argv[1], NULL, 10);
    connections = (int)strtol(argv[3], NULL, 10);
    active = (int)strtol(argv[4], NULL, 10);
    if (connections < 1 || active < 1 || active > connections) {
        fprintf(stderr, "idle: wrong number of connections\n");
        return 2;
    }
    request_len = (size_t)snprintf(
        request, sizeof(request),
        "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%ld\r\n\r\n", argv[2], port);
    conns = calloc((size_t)connections, sizeof(*conns));
    idle = calloc((size_t)connections, sizeof(*idle));
    log_file = fopen(argv[6], "we");
    ep = epoll_create1(EPOLL_CLOEXEC);
    if (!conns || !idle || !log_file || ep == -1) {
        perror("idle");
        return 1;
    }
    if (prime(connections) == -1) {
        return 1;
    }
    printf("ready %d\n", connections);
    fflush(stdout);
    if (!fgets(line, sizeof(line), stdin)) {
        return 1;
    }
    run(connections, active, strtod(argv[5], NULL),
        argc > 7 ? strtod(argv[7], NULL) : 0);
    printf("requests %ld bytes %ld closed %ld errors %ld\n", total.requests,
           total.bytes, total.closed, total.errors);
    return fclose(log_file) == 0 ? 0 : 1;
}
