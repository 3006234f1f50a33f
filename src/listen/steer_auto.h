/*
 * steerauto: FixedSteering auto, the part that thinks. A pure state machine,
 * fed once a second with what the seats did; it says when steering should be
 * taken off and when to try again. Plain data without pointers: it may live
 * in shared memory, so that the next seat goes on when its feeder dies. One
 * feeder at a time (the lowest live seat's watcher).
 */
#ifndef CPUAFFINITY_STEER_AUTO_H
#define CPUAFFINITY_STEER_AUTO_H

#include <stddef.h>

typedef enum steerauto_state {
    STEERAUTO_ON,
    STEERAUTO_OFF,  /* taken off because one seat was the bottleneck */
    STEERAUTO_TRIAL /* on again, to see */
} steerauto_state;

/* What one seat did since the last feed. */
typedef struct steerauto_sample {
    unsigned accepts; /* connections its socket brought */
    double load;      /* 0..1: how busy the seat's accepting thread and CPU
                         were */
} steerauto_sample;

/* A seat's sliding (exponential) averages. */
typedef struct steerauto_seat {
    float accepts; /* per second */
    float load;
} steerauto_seat;

typedef struct steerauto {
    int state; /* steerauto_state */
    int seats;
    double since;     /* seconds: when the state began */
    double fed;       /* seconds: the last feed */
    double backoff;   /* seconds to stay off next time */
    char reason[160]; /* of the last change, for log and status; "" at first */
    steerauto_seat seat[]; /* seats of them */
} steerauto;

/* Bytes that a machine for so many seats takes. */
size_t steerauto_size(int seats);

/* Starts it in @a a (steerauto_size bytes), ON, at @a now seconds. */
void steerauto_init(steerauto *a, int seats, double now);

/* Makes a copy of what others can write, of steerauto_size(@a seats) bytes,
 * fit to be fed: its count and its text are what they may be. What the
 * numbers say decides about steering, and nothing else. */
void steerauto_mend(steerauto *a, int seats);

/*
 * Feeds one period.
 * @param samples a->seats of them
 * @param now seconds, monotonic, the same clock as init's
 * @return 1 if the state changed (a->reason says why: log it once, then call
 *         sockets_steer with the method, or STEER_NONE), else 0
 */
int steerauto_feed(steerauto *a, const steerauto_sample *samples, double now);

/* Whether connections are to be steered now: ON or TRIAL. */
int steerauto_wants(const steerauto *a);

/* "on", "off", "trial" */
const char *steerauto_name(int state);

#endif
