/* SPDX-License-Identifier: Apache-2.0 */
/* links: src/listen/steer_auto.c
 * Steering that takes itself off, fed with made-up seconds. */
#include <stdlib.h>

#include "listen/steer_auto.h"
#include "t/unit/tap.h"

static steerauto *a;
static double clock_now;
static steer_auto_sample samples[64];

static void fresh(int seats)
{
    free(a);
    a = malloc(steer_auto_size(seats));
    clock_now = 1000;
    steer_auto_init(a, seats, clock_now);
}

/* Seat 0 gets so many connections at such a load, each other so many. */
static void shape(unsigned first, double load, unsigned others, double slack)
{
    int i;

    for (i = 0; i < 64; i++) {
        samples[i] = (steer_auto_sample){others, slack};
    }
    samples[0] = (steer_auto_sample){first, load};
}

/* Feeds whole seconds until the state changes. @return how many, or -1 */
static int until_change(int most)
{
    int i;

    for (i = 1; i <= most; i++) {
        clock_now += 1;
        if (steer_auto_feed(a, samples, clock_now)) {
            return i;
        }
    }
    return -1;
}

static void stays(int seats, const char *name)
{
    fresh(seats);
    ok(until_change(600) < 0 && steer_auto_is_on(a), "%s: steering stays",
       name);
}

/* It lives where every child can write: any bytes, mended, stay within. */
static void hostile(void)
{
    size_t size = steer_auto_size(8), i;
    int round, good = 0;

    free(a);
    a = malloc(size);
    srandom(3);
    shape(1000, 1.0, 10, 0.1);
    for (round = 0; round < 20000; round++) {
        for (i = 0; i < size; i++) {
            ((unsigned char *)a)[i] =
                (unsigned char)(random() % 4 ? random() : 255);
        }
        if (round % 2) {
            a->fed = 5;
            a->since = 0;
            a->state = round % 5 - 1;
        }
        steer_auto_mend(a, 8);
        steer_auto_feed(a, samples, 1e6);
        steer_auto_is_on(a);
        good += a->seats == 8 && strlen(a->reason) < sizeof(a->reason)
                && strlen(steer_auto_name(a->state)) > 0;
    }
    is_int(good, 20000, "any bytes: what is fed stays within them");
}

static void test_stays(void)
{
    shape(100, 0.95, 100, 0.95);
    stays(4, "even and busy");
    shape(1000, 0.5, 10, 0.1);
    stays(4, "skewed, but nobody is busy");
    shape(190, 1.0, 100, 0.3);
    stays(4, "less than twice the others");
    shape(1000, 1.0, 100, 0.8);
    stays(4, "skewed, but the others are busy too");
    shape(5, 1.0, 0, 0.0);
    stays(4, "a few heavy connections");
    shape(1000, 1.0, 0, 0.0);
    stays(1, "one seat");
    shape(0, 0, 0, 0);
    stays(64, "nothing at all");
}

static void test_changes(void)
{
    int took, last, i;

    for (i = 0; i < 3; i++) {
        static const int seats[] = {2, 16, 64};

        shape(1000, 1.0, 10, 0.1);
        fresh(seats[i]);
        took = until_change(600);
        ok(took >= 10 && took <= 40 && !steer_auto_is_on(a),
           "%d seats: off after %d seconds", seats[i], took);
        ok(strncmp(a->reason, "seat 0 got ", 11) == 0, "because %s", a->reason);
    }

    /* Each failure doubles the wait, up to a limit. */
    took = until_change(2000);
    ok(took >= 29 && took <= 31 && a->state == STEER_AUTO_TRIAL,
       "tried again after %d seconds", took);
    last = took;
    for (i = 0; i < 7; i++) {
        int failed = until_change(100);
        int waited = until_change(2000);

        ok(failed >= 10 && failed <= 20 && waited >= last && waited <= 961
               && (waited >= 2 * last - 2 || waited > 900),
           "failed after %d, waited %d", failed, waited);
        last = waited;
    }

    /* A trial that goes well ends the series. */
    shape(100, 0.4, 100, 0.4);
    is_int(until_change(100) > 55, 1, "a trial goes on for a while");
    is_int(a->state, STEER_AUTO_ON, "and succeeds");
    shape(1000, 1.0, 10, 0.1);
    ok(until_change(100) > 0 && !steer_auto_is_on(a), "until it does not");
    took = until_change(2000);
    ok(took <= 31, "then the wait is short again: %d", took);
}

static void test_bursts(void)
{
    /* A short burst is not a reason. */
    fresh(4);
    shape(100, 0.5, 100, 0.5);
    until_change(60);
    shape(2000, 1.0, 0, 0.0);
    until_change(3);
    shape(100, 0.5, 100, 0.5);
    ok(until_change(100) < 0 && steer_auto_is_on(a), "a burst of 3 seconds");

    /* Feeding at odd intervals, or with a clock that stands still. */
    fresh(4);
    shape(10000, 1.0, 10, 0.1);
    is_int(steer_auto_feed(a, samples, clock_now), 0, "no time has passed");
    is_int(steer_auto_feed(a, samples, clock_now - 5), 0, "time ran back");
    is_int(steer_auto_feed(a, samples, clock_now + 300), 1, "one long period");
    is_str(steer_auto_name(a->state), "off", "has the state off");
    is_str(steer_auto_name(77), "?", "a state that is none");
}

int main(void)
{
    test_stays();
    test_changes();
    test_bursts();
    hostile();
    free(a);
    return done();
}
