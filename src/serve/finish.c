/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/finish.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "loop/rebalance.h"
#include "serve/state.h"

/* As httpd: how long a client may take to end after our end, at once and in
 * all (milliseconds). */
#define LINGER 2000
#define LINGER_MAX 30000

/* Keeps the bytes that were read and not answered. 0 or -1 */
int finish_keep(conn *c, const char *bytes, size_t len)
{
    char *copy = NULL;

    if (len) {
        copy = malloc(len);
        if (!copy) {
            return -1;
        }
        memcpy(copy, bytes, len);
    }
    free(c->in);
    c->in = copy;
    c->in_len = c->in_size = (uint32_t)len;
    return 0;
}

void finish_httpd(loop *l, conn *c, const char *bytes, size_t len)
{
    if (finish_keep(c, bytes, len)) {
        loop_close(l, c);
        return;
    }
    loop_hand_over(l, c);
}

/* Until when the rest of a request may come, c->in_len bytes of which are
 * there: Timeout for each read, RequestReadTimeout for all of the head. */
static int64_t read_deadline(const loop *l, const conn *c, const address *a)
{
    int64_t each = l->now + a->timeout;
    int64_t all = c->began + a->header_first;

    if (!a->header_first) {
        return each;
    }
    if (a->header_rate > 0) {
        all += (int64_t)c->in_len * 1000 / a->header_rate;
        if (a->header_max > 0 && all > c->began + a->header_max) {
            all = c->began + a->header_max;
        }
    }
    return all < each ? all : each;
}

void finish_slow(loop *l, conn *c)
{
    c->expired = 1;
    loop_hand_over(l, c);
}

void finish_more(loop *l, conn *c, const address *a, int another)
{
    int64_t until;

    if (c->state != CONN_READING || another) {
        c->state = CONN_READING;
        c->began = l->now;
    }
    until = read_deadline(l, c, a);
    if (until <= l->now) {
        finish_slow(l, c);
        return;
    }
    loop_wait(l, c, EPOLLIN, until);
}

/* All is answered: waits for the next request as long as the vhost says. */
void finish_idle(loop *l, conn *c, int64_t timeout)
{
    free(c->in);
    c->in = NULL;
    c->in_len = c->in_size = 0;
    c->state = CONN_IDLE;
    /* Its timeout keeps running wherever it goes. */
    timer_wheel_set(&l->timers, &c->timer, l->now + timeout);
    if (__atomic_load_n(&l->stop, __ATOMIC_RELAXED) != LOOP_RUN) {
        l->let_go(l, c);
        return;
    }
    if (!rebalance_give(l, c)) {
        return;
    }
    loop_wait(l, c, EPOLLIN, l->now + timeout);
}

/* Our end of the connection is over; the client's is waited for, so that it
 * gets all of the answer. */
void finish_linger(loop *l, conn *c)
{
    if (c->kept) {
        c->ending = HANDOFF_CLOSE;
        finish_httpd(l, c, NULL, 0);
        return;
    }
    if (shutdown(c->fd, SHUT_WR)) {
        loop_close(l, c);
        return;
    }
    free(c->in);
    c->in = NULL;
    c->in_len = c->in_size = 0;
    c->state = CONN_CLOSING;
    c->began = l->now;
    loop_wait(l, c, EPOLLIN, l->now + LINGER);
}

void finish_drain(loop *l, conn *c)
{
    serve_state *st = l->answers_ctx;
    ssize_t n = recv(c->fd, st->in, sizeof(st->in), MSG_DONTWAIT);

    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)
        || l->now - c->began >= LINGER_MAX) {
        loop_close(l, c);
        return;
    }
    loop_wait(l, c, EPOLLIN, l->now + LINGER);
}
