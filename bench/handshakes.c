/* SPDX-License-Identifier: Apache-2.0 */
/* A TLS connection for each request: handshake, GET with Connection: close,
 * the answer to the server's end.
 *
 *   handshakes PORT PATH CONNECTIONS THREADS SECONDS LOGFILE full|resumed
 *
 * CONNECTIONS are open at a time. "resumed": each offers the session of the
 * one before in its place (its newest ticket, or the same again where the
 * server gave no new one); the first of each place, before the time begins,
 * makes one. A connection whose session is not taken there, or is taken in a
 * full run, is an error.
 * LOGFILE gets h2load's columns: start in µs since the epoch, status, µs;
 * from connect() to the end of the answer.
 * Last line: "requests R bytes B resumed N errors E".
 */
#include "tls_client.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
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
#define THREADS_MAX 64
#define GRACE 5000000
#define CONNECT_LIMIT 10000000

/* One after the other in the same place. */
struct place {
    SSL *ssl;
    SSL_SESSION *session; /* to be offered next */
    SSL_SESSION *offered; /* a copy: OpenSSL offers one only once */
    int64_t start;
    int64_t left; /* of the body, -1 while in the header */
    int fd;       /* -1: nothing is open */
    int sent;
    int status;
    size_t have; /* bytes of the header */
    char head[HEAD_MAX];
};

struct worker {
    pthread_t thread;
    struct place *places;
    int count;
    int open;
    int ep;
    long requests, bytes, resumed, errors;
};

static struct worker workers[THREADS_MAX];
static int threads;
static SSL_CTX *ctx;
static int is_resuming;
static long port;
static char request[512];
static int request_len;
static double seconds;
static FILE *log_file;
static pthread_barrier_t begin;
static atomic_int first_errors;

static int64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* OpenSSL's callback: a ticket has come. */
static int keep_session(SSL *ssl, SSL_SESSION *session)
{
    struct place *p = SSL_get_app_data(ssl);

    SSL_SESSION_free(p->session);
    p->session = session;
    return 1;
}

static void place_watch(struct worker *w, struct place *p, uint32_t events)
{
    struct epoll_event ev = {.events = events, .data.ptr = p};

    (void)epoll_ctl(w->ep, EPOLL_CTL_MOD, p->fd, &ev);
}

/* @return 0, or -1 */
static int place_open(struct worker *w, struct place *p)
{
    struct sockaddr_in sa = {.sin_family = AF_INET};
    struct epoll_event ev = {.events = EPOLLOUT, .data.ptr = p};
    int on = 1;

    sa.sin_port = htons((uint16_t)port);
    sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    p->start = now_us();
    p->left = -1;
    p->sent = p->status = 0;
    p->have = 0;
    p->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (p->fd == -1) {
        return -1;
    }
    (void)setsockopt(p->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    p->ssl = tls_client_new(ctx, p->fd);
    if (!p->ssl
        || (connect(p->fd, (struct sockaddr *)&sa, sizeof(sa)) == -1
            && errno != EINPROGRESS)
        || epoll_ctl(w->ep, EPOLL_CTL_ADD, p->fd, &ev) == -1) {
        SSL_free(p->ssl);
        p->ssl = NULL;
        close(p->fd);
        p->fd = -1;
        return -1;
    }
    SSL_set_app_data(p->ssl, p);
    if (p->session) {
        p->offered = SSL_SESSION_dup(p->session);
        SSL_set_session(p->ssl, p->session);
        SSL_SESSION_free(p->session);
        p->session = NULL;
    }
    w->open++;
    return 0;
}

/* The connection is over: counted if it belongs to the run. */
static void place_close(struct worker *w, struct place *p, int is_run)
{
    int is_resumed = SSL_session_reused(p->ssl);
    int is_good = p->status == 200 && p->left == 0
                  && (!is_run || is_resumed == is_resuming);

    if (is_run) {
        int64_t now = now_us();

        fprintf(log_file, "%lld\t%d\t%lld\n", (long long)p->start,
                is_good ? 200 : -1, (long long)(now - p->start));
        w->requests += is_good;
        w->resumed += is_resumed;
        w->errors += !is_good;
    }
    else if (!is_good) {
        atomic_fetch_add(&first_errors, 1);
    }
    if (!p->session) {
        p->session = p->offered;
        p->offered = NULL;
    }
    SSL_SESSION_free(p->offered);
    p->offered = NULL;
    /* quietly: the server has said that it closes */
    SSL_set_shutdown(p->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(p->ssl);
    p->ssl = NULL;
    close(p->fd);
    p->fd = -1;
    w->open--;
}

/* Bytes of the answer. */
static void place_take(struct place *p, const char *bytes, size_t n)
{
    size_t room = sizeof(p->head) - 1 - p->have;
    const char *end, *field;
    size_t part = n < room ? n : room;

    if (p->left != -1) {
        p->left -= (int64_t)n;
        return;
    }
    memcpy(p->head + p->have, bytes, part);
    p->have += part;
    p->head[p->have] = 0;
    end = strstr(p->head, "\r\n\r\n");
    field = strcasestr(p->head, "\r\nContent-Length:");
    if (!end || !field || field > end) {
        return;
    }
    p->status = (int)strtol(p->head + 9, NULL, 10);
    p->left = strtoll(field + 17, NULL, 10) - (p->head + p->have - (end + 4))
              - (int64_t)(n - part);
}

/* @return 1 when the connection is over */
static int place_go(struct worker *w, struct place *p)
{
    char bytes[16384];
    int out;
    ssize_t n;

    if (!p->sent) {
        /* the first write shakes hands */
        n = tls_result(p->ssl, SSL_write(p->ssl, request, request_len), &out);
        if (n <= 0) {
            place_watch(w, p, out ? EPOLLOUT : EPOLLIN);
            return !(n == -1 && errno == EAGAIN);
        }
        p->sent = 1;
        place_watch(w, p, EPOLLIN);
    }
    while (
        (n = tls_result(p->ssl, SSL_read(p->ssl, bytes, sizeof(bytes)), &out))
        > 0) {
        w->bytes += n;
        place_take(p, bytes, (size_t)n);
    }
    return !(n == -1 && errno == EAGAIN);
}

static void worker_poll(struct worker *w, int is_run)
{
    struct epoll_event events[64];
    int n = epoll_wait(w->ep, events, 64, 100);

    for (int i = 0; i < n; i++) {
        struct place *p = events[i].data.ptr;

        if (place_go(w, p)) {
            place_close(w, p, is_run);
        }
    }
}

/* Keeps all places busy until @a end, then waits for what is open. */
static void worker_run(struct worker *w, int64_t end)
{
    int64_t now;

    while ((now = now_us()) < end || (w->open && now < end + GRACE)) {
        for (int i = 0; i < w->count && now < end; i++) {
            if (w->places[i].fd == -1 && place_open(w, &w->places[i]) == -1) {
                w->errors++;
                usleep(1000);
            }
        }
        worker_poll(w, 1);
    }
    w->errors += w->open;
}

/* Each place once, for a session. */
static void worker_prime(struct worker *w)
{
    int64_t end = now_us() + CONNECT_LIMIT;

    for (int i = 0; i < w->count; i++) {
        if (place_open(w, &w->places[i]) == -1) {
            atomic_fetch_add(&first_errors, 1);
        }
    }
    while (w->open && now_us() < end) {
        worker_poll(w, 0);
    }
    atomic_fetch_add(&first_errors, w->open);
    w->bytes = 0;
}

static void *work(void *data)
{
    struct worker *w = data;

    if (is_resuming) {
        worker_prime(w);
    }
    pthread_barrier_wait(&begin);
    if (!atomic_load(&first_errors)) {
        worker_run(w, now_us() + (int64_t)(seconds * 1e6));
    }
    return NULL;
}

/* @return 0, or -1 with errno */
static int workers_start(int connections)
{
    if (pthread_barrier_init(&begin, NULL, (unsigned)threads)) {
        return -1;
    }
    for (int i = 0; i < threads; i++) {
        struct worker *w = &workers[i];

        w->count = connections / threads + (i < connections % threads);
        w->places = calloc((size_t)w->count + 1, sizeof(*w->places));
        w->ep = epoll_create1(EPOLL_CLOEXEC);
        if (!w->places || w->ep == -1) {
            return -1;
        }
        for (int k = 0; k < w->count; k++) {
            w->places[k].fd = -1;
        }
        if (pthread_create(&w->thread, NULL, work, w)) {
            return -1;
        }
    }
    return 0;
}

static int report(void)
{
    long requests = 0, bytes = 0, resumed = 0, errors = 0;

    for (int i = 0; i < threads; i++) {
        pthread_join(workers[i].thread, NULL);
        requests += workers[i].requests;
        bytes += workers[i].bytes;
        resumed += workers[i].resumed;
        errors += workers[i].errors;
    }
    if (atomic_load(&first_errors)) {
        fprintf(stderr, "handshakes: %d of the first connections failed\n",
                atomic_load(&first_errors));
        return 1;
    }
    printf("requests %ld bytes %ld resumed %ld errors %ld\n", requests, bytes,
           resumed, errors);
    return fclose(log_file) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    int connections;

    if (argc != 8) {
        fprintf(stderr, "usage: handshakes PORT PATH CONNECTIONS THREADS "
                        "SECONDS LOGFILE full|resumed\n");
        return 2;
    }
    port = strtol(argv[1], NULL, 10);
    connections = (int)strtol(argv[3], NULL, 10);
    threads = (int)strtol(argv[4], NULL, 10);
    seconds = strtod(argv[5], NULL);
    is_resuming = !strcmp(argv[7], "resumed");
    if (threads < 1 || threads > THREADS_MAX || connections < threads) {
        fprintf(stderr, "handshakes: wrong number of connections\n");
        return 2;
    }
    request_len = snprintf(request, sizeof(request),
                           "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%ld\r\n"
                           "Connection: close\r\n\r\n",
                           argv[2], port);
    log_file = fopen(argv[6], "we");
    ctx = tls_client_context();
    if (!log_file || !ctx || request_len >= (int)sizeof(request)) {
        perror("handshakes");
        return 1;
    }
    if (is_resuming) {
        SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT
                                                | SSL_SESS_CACHE_NO_INTERNAL);
        SSL_CTX_sess_set_new_cb(ctx, keep_session);
    }
    if (workers_start(connections) == -1) {
        perror("handshakes");
        return 1;
    }
    return report();
}
