/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timer_wheel: many timers, coarse and cheap: setting and clearing one are a
 * few stores. A timer expires at most TIMER_WHEEL_TICK late and never early.
 * One thread; no httpd header is needed.
 */
#ifndef CPUAFFINITY_TIMER_WHEEL_H
#define CPUAFFINITY_TIMER_WHEEL_H

#include <stdint.h>

#define TIMER_WHEEL_TICK 100  /* milliseconds */
#define TIMER_WHEEL_SLOTS 512 /* later timers stay for another round */

/* A member of the object that is timed. All zero: not set. */
typedef struct timer_wheel_entry {
    struct timer_wheel_entry *next;
    struct timer_wheel_entry *prev;
    int64_t deadline; /* milliseconds; meaningful while it is set */
} timer_wheel_entry;

typedef struct timer_wheel {
    int64_t tick; /* the last one processed */
    unsigned set; /* how many timers are set */
    timer_wheel_entry expired;
    timer_wheel_entry slot[TIMER_WHEEL_SLOTS];
} timer_wheel;

/* @a now: in milliseconds, of the same clock as all deadlines. */
void timer_wheel_init(timer_wheel *w, int64_t now);

/* Sets or resets a timer. */
void timer_wheel_set(timer_wheel *w, timer_wheel_entry *t, int64_t deadline);

/* Clears it; harmless when it is not set. */
void timer_wheel_clear(timer_wheel *w, timer_wheel_entry *t);

/* An expired timer, cleared, or NULL. Need not be called until NULL: the
 * others stay expired. */
timer_wheel_entry *timer_wheel_pop(timer_wheel *w, int64_t now);

/* Milliseconds to sleep until the wheel has to be processed; -1: no timer is
 * set. */
int timer_wheel_wait(const timer_wheel *w, int64_t now);

#endif
