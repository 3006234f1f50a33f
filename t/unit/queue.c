/* SPDX-License-Identifier: Apache-2.0 */
/* queue: order, bound, closing, two threads.
 * links: src/handoff/queue.c src/handoff/handoff.c
 */
#include "t/unit/tap.h"
#include "handoff/queue.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#define MANY 20000

static int dropped;

static void drop_note(void *note)
{
    dropped++;
    free(note);
}

static int push_number(queue *q, unsigned number)
{
    handoff p;
    int rc;

    handoff_init(&p);
    p.keepalives = number;
    rc = queue_push(q, &p);
    handoff_drop(&p);
    return rc;
}

static void *consume(void *data)
{
    queue *q = data;
    unsigned want = 0;
    handoff p;

    while (want < MANY) {
        if (queue_pop(q, &p)) {
            sched_yield();
            continue;
        }
        if (p.keepalives != want) {
            break;
        }
        want++;
        handoff_drop(&p);
    }
    return want == MANY ? q : NULL;
}

static void threads(void)
{
    queue *q = queue_make(16);
    pthread_t t;
    void *result = NULL;
    unsigned i;

    pthread_create(&t, NULL, consume, q);
    for (i = 0; i < MANY; i++) {
        while (push_number(q, i)) {
            sched_yield();
        }
    }
    pthread_join(t, &result);
    ok(result == q, "another thread pops all in order");
    queue_free(q);
}

static void ownership(void)
{
    queue *q = queue_make(2);
    int fd = open("/dev/null", O_RDONLY);
    handoff p;

    handoff_init(&p);
    p.fd = fd;
    p.bytes = malloc(3);
    p.len = 3;
    p.note = malloc(1);
    p.drop_note = drop_note;
    ok(!queue_push(q, &p), "push");
    ok(p.fd == -1 && !p.bytes && !p.note, "a pushed handoff is empty");
    handoff_drop(&p);
    ok(fcntl(fd, F_GETFD) >= 0, "its descriptor is open in the queue");
    queue_free(q);
    ok(fcntl(fd, F_GETFD) < 0, "and closed with it");
    is_int(dropped, 1, "the note was dropped");
}

int main(void)
{
    queue *q = queue_make(3);
    handoff p;

    is_int(queue_pop(q, &p), -1, "empty at first");
    ok(!push_number(q, 1) && !push_number(q, 2) && !push_number(q, 3),
       "three fit");
    is_int(push_number(q, 4), -1, "the fourth does not");
    is_int(queue_length(q), 3, "length");
    queue_pop(q, &p);
    is_int(p.keepalives, 1, "first in, first out");
    ok(!push_number(q, 5), "room again");
    ok(queue_age(q, clock_ms() + 1000) >= 1000, "age of the oldest");
    queue_close(q);
    is_int(push_number(q, 6), -1, "closed");
    queue_pop(q, &p);
    queue_pop(q, &p);
    is_int(queue_pop(q, &p), 0, "what was in it is still there");
    is_int(p.keepalives, 5, "in order, round the end of the ring");
    is_int(queue_age(q, clock_ms() + 1000), 0, "no age when empty");
    queue_free(q);

    q = queue_make(2);
    handoff_init(&p);
    p.moved = 1;
    queue_push(q, &p);
    push_number(q, 7);
    is_int(queue_pop_unmoved(q, &p), -1, "one that was moved stays");
    usleep(QUEUE_MOVES_AGAIN * 1000);
    is_int(queue_pop_unmoved(q, &p), 0, "until it has waited for long");
    is_int(queue_pop_unmoved(q, &p), 0, "another may go");
    is_int(p.keepalives, 7, "the right one");
    queue_free(q);
    ownership();
    threads();
    return done();
}
