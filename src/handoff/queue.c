/* SPDX-License-Identifier: Apache-2.0 */
#include "handoff/queue.h"

#include <pthread.h>
#include <stdlib.h>

struct queue {
    pthread_mutex_t lock;
    unsigned bound;
    unsigned head;
    unsigned length; /* written under the lock, read without it */
    int closed;
    handoff slot[];
};

queue *queue_make(unsigned bound)
{
    queue *q = calloc(1, sizeof(*q) + bound * sizeof(handoff));

    if (!q) {
        return NULL;
    }
    if (pthread_mutex_init(&q->lock, NULL)) {
        free(q);
        return NULL;
    }
    q->bound = bound;
    return q;
}

void queue_free(queue *q)
{
    handoff p;

    while (!queue_pop(q, &p)) {
        handoff_drop(&p);
    }
    pthread_mutex_destroy(&q->lock);
    free(q);
}

int queue_push(queue *q, handoff *p)
{
    int64_t now = clock_ms();
    int rc = -1;

    pthread_mutex_lock(&q->lock);
    if (!q->closed && q->length < q->bound) {
        p->since = now;
        q->slot[(q->head + q->length) % q->bound] = *p;
        __atomic_store_n(&q->length, q->length + 1, __ATOMIC_RELAXED);
        rc = 0;
    }
    pthread_mutex_unlock(&q->lock);
    if (!rc) {
        handoff_init(p);
    }
    return rc;
}

/* Whether the oldest may be popped: one that has moved, if it waits since
 * that time or longer; one with TLS that is kept, only for good. */
static int may_pop(const queue *q, int64_t since_before)
{
    const handoff *oldest = &q->slot[q->head];

    return q->length && (!oldest->moved || oldest->since <= since_before)
           && (!oldest->kept || since_before == INT64_MAX);
}

static int pop(queue *q, handoff *p, int64_t since_before)
{
    int rc = -1;

    pthread_mutex_lock(&q->lock);
    if (may_pop(q, since_before)) {
        *p = q->slot[q->head];
        q->head = (q->head + 1) % q->bound;
        __atomic_store_n(&q->length, q->length - 1, __ATOMIC_RELAXED);
        rc = 0;
    }
    pthread_mutex_unlock(&q->lock);
    return rc;
}

int queue_pop(queue *q, handoff *p)
{
    return pop(q, p, INT64_MAX);
}

int queue_pop_unmoved(queue *q, handoff *p)
{
    return pop(q, p, clock_ms() - QUEUE_MOVES_AGAIN);
}

void queue_close(queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->closed = 1;
    pthread_mutex_unlock(&q->lock);
}

unsigned queue_length(const queue *q)
{
    return __atomic_load_n(&q->length, __ATOMIC_RELAXED);
}

int64_t queue_age(queue *q, int64_t now)
{
    int64_t age = 0;

    if (!queue_length(q)) {
        return 0;
    }
    pthread_mutex_lock(&q->lock);
    if (q->length) {
        age = now - q->slot[q->head].since;
    }
    pthread_mutex_unlock(&q->lock);
    return age > 0 ? age : 0;
}
