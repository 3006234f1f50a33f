/* SPDX-License-Identifier: Apache-2.0 */
#include "listen/steer_auto.h"

#include <stdio.h>
#define WINDOW 10.0       /* seconds that the averages look back */
#define SETTLE 10.0       /* seconds before a new state is judged */
#define BUSY 0.9          /* load from which a seat is the bottleneck */
#define SLACK 0.7         /* the others' load, below which they could help */
#define SKEW 2.0          /* times the mean of the others */
#define FEW 10.0          /* connections a second; fewer say little */
#define BACKOFF_MIN 30.0  /* seconds off after the first failure */
#define BACKOFF_MAX 960.0 /* and at most */
#define TRIAL 60.0        /* seconds after which a trial has succeeded */

size_t steer_auto_size(int seats)
{
    return sizeof(steerauto) + sizeof(steer_auto_seat) * (size_t)seats;
}

static void enter(steerauto *a, int state, double now)
{
    a->state = state;
    a->since = now;
}

void steer_auto_init(steerauto *a, int seats, double now)
{
    int i;

    a->seats = seats;
    a->fed = now;
    a->backoff = BACKOFF_MIN;
    a->reason[0] = '\0';
    for (i = 0; i < seats; i++) {
        a->seat[i] = (steer_auto_seat){0, 0};
    }
    enter(a, STEER_AUTO_ON, now);
}

void steer_auto_mend(steerauto *a, int seats)
{
    a->seats = seats;
    a->reason[sizeof(a->reason) - 1] = '\0';
}

static void average(steerauto *a, const steer_auto_sample *samples, double now)
{
    double period = now - a->fed;
    double keep = WINDOW / (WINDOW + period);
    int i;

    for (i = 0; i < a->seats; i++) {
        steer_auto_seat *s = &a->seat[i];

        s->accepts = (float)(s->accepts * keep
                             + samples[i].accepts / period * (1 - keep));
        s->load = (float)(s->load * keep + samples[i].load * (1 - keep));
    }
    a->fed = now;
}

/* The seat that gets too much and cannot take more while the others could; -1
 * if there is none. */
static int bottleneck(const steerauto *a, double *others, double *slack)
{
    double accepts = 0, load = 0;
    int most = 0, i;

    for (i = 0; i < a->seats; i++) {
        accepts += a->seat[i].accepts;
        load += a->seat[i].load;
        if (a->seat[i].accepts > a->seat[most].accepts) {
            most = i;
        }
    }
    if (a->seats < 2) {
        return -1;
    }
    *others = (accepts - a->seat[most].accepts) / (a->seats - 1);
    *slack = (load - a->seat[most].load) / (a->seats - 1);
    return accepts >= FEW && a->seat[most].accepts > SKEW * *others
                   && a->seat[most].load >= BUSY && *slack < SLACK
               ? most
               : -1;
}

static int judge(steerauto *a, double now)
{
    double others, slack;
    int seat = bottleneck(a, &others, &slack);

    if (seat < 0) {
        if (a->state == STEER_AUTO_TRIAL && now - a->since >= TRIAL) {
            a->backoff = BACKOFF_MIN;
            enter(a, STEER_AUTO_ON, now);
            snprintf(a->reason, sizeof(a->reason),
                     "no seat was a bottleneck for %.0f seconds", TRIAL);
            return 1;
        }
        return 0;
    }
    snprintf(a->reason, sizeof(a->reason),
             "seat %d got %.0f connections/s at load %.2f, the others %.0f "
             "each at load %.2f; next try in %.0f seconds",
             seat, a->seat[seat].accepts, a->seat[seat].load, others, slack,
             a->backoff);
    enter(a, STEER_AUTO_OFF, now);
    return 1;
}

int steer_auto_feed(steerauto *a, const steer_auto_sample *samples, double now)
{
    if (now <= a->fed) {
        return 0;
    }
    average(a, samples, now);
    if (a->state == STEER_AUTO_OFF) {
        if (now - a->since < a->backoff) {
            return 0;
        }
        a->backoff =
            2 * a->backoff < BACKOFF_MAX ? 2 * a->backoff : BACKOFF_MAX;
        enter(a, STEER_AUTO_TRIAL, now);
        snprintf(a->reason, sizeof(a->reason), "another try");
        return 1;
    }
    return now - a->since >= SETTLE ? judge(a, now) : 0;
}

int steer_auto_is_on(const steerauto *a)
{
    return a->state != STEER_AUTO_OFF;
}

const char *steer_auto_name(int state)
{
    static const char *const names[] = {"on", "off", "trial"};

    return state >= 0 && state <= STEER_AUTO_TRIAL ? names[state] : "?";
}
