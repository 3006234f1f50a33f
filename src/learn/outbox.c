/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/outbox.h"

#include <pthread.h>

#include "learn/peer_share.h"
#include "loop/loop.h"

/* Posts are short and rare next to requests: a mutex will do. */
static struct {
    pthread_mutex_t lock;
    lesson *first;
    lesson *last;
    unsigned count;
    size_t bodies; /* bytes */
    int closed;
} box = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t body_of(const lesson *l)
{
    return l->body ? (size_t)l->answer.size : 0;
}

static int put(lesson *l)
{
    int ok;

    pthread_mutex_lock(&box.lock);
    ok = !box.closed && box.count < OUTBOX_ROOM
         && box.bodies + body_of(l) <= OUTBOX_BODIES;
    if (ok) {
        box.bodies += body_of(l);
        l->next = NULL;
        if (box.last) {
            box.last->next = l;
        }
        else {
            box.first = l;
        }
        box.last = l;
        /* The loop looks at the count without the lock. */
        __atomic_store_n(&box.count, box.count + 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&box.lock);
    return ok;
}

void outbox_post(lesson *l)
{
    loop *to = loop_get();

    peer_share_post(l);
    if (to && put(l)) {
        loop_wake(to);
    }
    else {
        lesson_free(l);
    }
}

lesson *outbox_next(void)
{
    lesson *l;

    if (!__atomic_load_n(&box.count, __ATOMIC_ACQUIRE)) {
        return NULL;
    }
    pthread_mutex_lock(&box.lock);
    l = box.first;
    if (l) {
        box.first = l->next;
        if (!box.first) {
            box.last = NULL;
        }
        box.bodies -= body_of(l);
        __atomic_store_n(&box.count, box.count - 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&box.lock);
    return l;
}

void outbox_close(void)
{
    lesson *l;

    pthread_mutex_lock(&box.lock);
    box.closed = 1;
    pthread_mutex_unlock(&box.lock);
    while ((l = outbox_next())) {
        lesson_free(l);
    }
}
