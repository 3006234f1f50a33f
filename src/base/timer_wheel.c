/* SPDX-License-Identifier: Apache-2.0 */
#include "base/timer_wheel.h"

#include <stddef.h>
#include <string.h>

static void empty(timer_wheel_entry *head)
{
    head->next = head->prev = head;
}

static void append(timer_wheel_entry *head, timer_wheel_entry *t)
{
    t->prev = head->prev;
    t->next = head;
    head->prev->next = t;
    head->prev = t;
}

static void take_out(timer_wheel_entry *t)
{
    t->prev->next = t->next;
    t->next->prev = t->prev;
    t->next = t->prev = NULL;
}

void timer_wheel_init(timer_wheel *w, int64_t now)
{
    int i;

    memset(w, 0, sizeof(*w));
    w->tick = now / TIMER_WHEEL_TICK;
    empty(&w->expired);
    for (i = 0; i < TIMER_WHEEL_SLOTS; i++) {
        empty(&w->slot[i]);
    }
}

void timer_wheel_set(timer_wheel *w, timer_wheel_entry *t, int64_t deadline)
{
    /* Rounded up: never early. What is already past goes into the next slot. */
    int64_t tick = (deadline + TIMER_WHEEL_TICK - 1) / TIMER_WHEEL_TICK;

    timer_wheel_clear(w, t);
    if (tick <= w->tick) {
        tick = w->tick + 1;
    }
    t->deadline = deadline;
    append(&w->slot[tick % TIMER_WHEEL_SLOTS], t);
    w->set++;
}

void timer_wheel_clear(timer_wheel *w, timer_wheel_entry *t)
{
    if (t->next) {
        take_out(t);
        w->set--;
    }
}

/* Moves what is due from one slot to the expired list; a slot also holds
 * timers of later rounds. */
static void sweep(timer_wheel *w, timer_wheel_entry *head, int64_t now)
{
    timer_wheel_entry *t = head->next;

    while (t != head) {
        timer_wheel_entry *next = t->next;

        if (t->deadline <= now) {
            take_out(t);
            append(&w->expired, t);
        }
        t = next;
    }
}

timer_wheel_entry *timer_wheel_pop(timer_wheel *w, int64_t now)
{
    int64_t tick = now / TIMER_WHEEL_TICK;
    timer_wheel_entry *t;

    if (tick - w->tick > TIMER_WHEEL_SLOTS) {
        w->tick = tick - TIMER_WHEEL_SLOTS;
    }
    while (w->tick < tick) {
        w->tick++;
        sweep(w, &w->slot[w->tick % TIMER_WHEEL_SLOTS], now);
    }
    if (w->expired.next == &w->expired) {
        return NULL;
    }
    t = w->expired.next;
    take_out(t);
    w->set--;
    return t;
}

int timer_wheel_wait(const timer_wheel *w, int64_t now)
{
    int64_t tick;

    if (!w->set) {
        return -1;
    }
    if (w->expired.next != &w->expired) {
        return 0;
    }
    for (tick = w->tick + 1; tick < w->tick + TIMER_WHEEL_SLOTS; tick++) {
        const timer_wheel_entry *head = &w->slot[tick % TIMER_WHEEL_SLOTS];

        if (head->next != head) {
            break;
        }
    }
    return tick * TIMER_WHEEL_TICK > now ? (int)(tick * TIMER_WHEEL_TICK - now)
                                         : 0;
}
