/*
 * wheel: many timers, coarse and cheap: setting and clearing one are a few
 * stores. A timer expires at most WHEEL_TICK late and never early. One
 * thread; no httpd header is needed.
 */
#ifndef CPUAFFINITY_TIMER_WHEEL_H
#define CPUAFFINITY_TIMER_WHEEL_H

#include <stdint.h>

#define WHEEL_TICK 100  /* milliseconds */
#define WHEEL_SLOTS 512 /* later ones stay for another round */

/* Inside the object that is timed. All zero: not set. */
typedef struct wheel_timer {
    struct wheel_timer *next;
    struct wheel_timer *prev;
    int64_t deadline; /* milliseconds; meaningful while it is set */
} wheel_timer;

typedef struct wheel {
    int64_t tick; /* the last one that was looked at */
    unsigned set; /* how many timers are set */
    wheel_timer expired;
    wheel_timer slot[WHEEL_SLOTS];
} wheel;

/* @a now: milliseconds of the clock that all deadlines are of. */
void wheel_init(wheel *w, int64_t now);

/* Sets or resets a timer. */
void wheel_set(wheel *w, wheel_timer *t, int64_t deadline);

/* Clears it; harmless when it is not set. */
void wheel_clear(wheel *w, wheel_timer *t);

/* An expired timer, cleared, or NULL. Call until NULL, or not: the others
 * stay expired. */
wheel_timer *wheel_pop(wheel *w, int64_t now);

/* Milliseconds to sleep until the wheel wants to be looked at; -1: no timer
 * is set. */
int wheel_wait(const wheel *w, int64_t now);

#endif
