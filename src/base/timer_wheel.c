#include "base/timer_wheel.h"

#include <stddef.h>
#include <string.h>

static void empty(wheel_timer *head)
{
    head->next = head->prev = head;
}

static void append(wheel_timer *head, wheel_timer *t)
{
    t->prev = head->prev;
    t->next = head;
    head->prev->next = t;
    head->prev = t;
}

static void take_out(wheel_timer *t)
{
    t->prev->next = t->next;
    t->next->prev = t->prev;
    t->next = t->prev = NULL;
}

void wheel_init(wheel *w, int64_t now)
{
    int i;

    memset(w, 0, sizeof(*w));
    w->tick = now / WHEEL_TICK;
    empty(&w->expired);
    for (i = 0; i < WHEEL_SLOTS; i++) {
        empty(&w->slot[i]);
    }
}

void wheel_set(wheel *w, wheel_timer *t, int64_t deadline)
{
    /* Rounded up: never early. A slot behind the hand comes next. */
    int64_t tick = (deadline + WHEEL_TICK - 1) / WHEEL_TICK;

    wheel_clear(w, t);
    if (tick <= w->tick) {
        tick = w->tick + 1;
    }
    t->deadline = deadline;
    append(&w->slot[tick % WHEEL_SLOTS], t);
    w->set++;
}

void wheel_clear(wheel *w, wheel_timer *t)
{
    if (t->next) {
        take_out(t);
        w->set--;
    }
}

/* Moves what is due from one slot to the expired; a slot also holds timers
 * of later rounds. */
static void sweep(wheel *w, wheel_timer *head, int64_t now)
{
    wheel_timer *t = head->next;

    while (t != head) {
        wheel_timer *next = t->next;

        if (t->deadline <= now) {
            take_out(t);
            append(&w->expired, t);
        }
        t = next;
    }
}

wheel_timer *wheel_pop(wheel *w, int64_t now)
{
    int64_t tick = now / WHEEL_TICK;
    wheel_timer *t;

    if (tick - w->tick > WHEEL_SLOTS) {
        w->tick = tick - WHEEL_SLOTS;
    }
    while (w->tick < tick) {
        w->tick++;
        sweep(w, &w->slot[w->tick % WHEEL_SLOTS], now);
    }
    if (w->expired.next == &w->expired) {
        return NULL;
    }
    t = w->expired.next;
    take_out(t);
    w->set--;
    return t;
}

int wheel_wait(const wheel *w, int64_t now)
{
    int64_t tick;

    if (!w->set) {
        return -1;
    }
    if (w->expired.next != &w->expired) {
        return 0;
    }
    for (tick = w->tick + 1; tick < w->tick + WHEEL_SLOTS; tick++) {
        const wheel_timer *head = &w->slot[tick % WHEEL_SLOTS];

        if (head->next != head) {
            break;
        }
    }
    return tick * WHEEL_TICK > now ? (int)(tick * WHEEL_TICK - now) : 0;
}
