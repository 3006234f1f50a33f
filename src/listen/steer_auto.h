/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steer_auto: the decisions of FixedSteering auto. A pure state machine, fed
 * once a second with what the seats did; it says when steering should be
 * turned off and when to try again. Plain data without pointers: it may live
 * in shared memory, so that the next seat goes on when its feeder dies. One
 * feeder at a time (the loop of the lowest live seat).
 */
#ifndef CPUAFFINITY_STEER_AUTO_H
#define CPUAFFINITY_STEER_AUTO_H

#include <stddef.h>

typedef enum steer_auto_state {
    STEER_AUTO_ON,
    STEER_AUTO_OFF,  /* turned off because one seat was the bottleneck */
    STEER_AUTO_TRIAL /* on again, to see */
} steer_auto_state;

/* What one seat did since the last feed. */
typedef struct steer_auto_sample {
    unsigned accepts; /* connections accepted from its socket */
    double load;      /* 0..1: how busy the seat's accepting thread and CPU
                         were */
} steer_auto_sample;

/* A seat's sliding (exponential) averages. */
typedef struct steer_auto_seat {
    float accepts; /* per second */
    float load;
} steer_auto_seat;

typedef struct steerauto {
    int state; /* steer_auto_state */
    int seats;
    double since;     /* seconds: when the state began */
    double fed;       /* seconds: the last feed */
    double backoff;   /* seconds to stay off next time */
    char reason[160]; /* of the last change, for log and status; "" at first */
    steer_auto_seat seat[]; /* seats of them */
} steerauto;

/* Size in bytes of a machine for @a seats seats. */
size_t steer_auto_size(int seats);

/* Starts it in @a a (steer_auto_size bytes), ON, at @a now seconds. */
void steer_auto_init(steerauto *a, int seats, double now);

/* Makes @a a, a copy of steer_auto_size(@a seats) bytes that others can write,
 * safe to feed: sets its count and bounds its text. Wrong numbers can only
 * affect steering. */
void steer_auto_mend(steerauto *a, int seats);

/*
 * Feeds one period.
 * @param samples a->seats of them
 * @param now seconds, monotonic, the same clock as init's
 * @return 1 if the state changed (a->reason says why: log it once, then call
 *         sockets_steer with the method, or STEER_NONE), else 0
 */
int steer_auto_feed(steerauto *a, const steer_auto_sample *samples, double now);

/* Whether connections are to be steered now: ON or TRIAL. */
int steer_auto_is_on(const steerauto *a);

/* "on", "off", "trial" */
const char *steer_auto_name(int state);

#endif
