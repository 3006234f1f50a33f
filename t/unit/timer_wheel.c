/* SPDX-License-Identifier: Apache-2.0 */
/* timer_wheel: timers against a sorted list.
 */
#include "t/unit/tap.h"
#include "base/timer_wheel.h"

#include <stdlib.h>

#define MANY 3000

static timer_wheel w;
static timer_wheel_entry timer[MANY];

static void random_timers(void)
{
    int64_t now = 5000, early = 0, late = 0;
    int left = 0, i, lost = 0;

    srand(1);
    timer_wheel_init(&w, now);
    for (i = 0; i < MANY; i++) {
        timer_wheel_set(&w, &timer[i], now + rand() % 200000);
        if (i % 3 == 0) {
            timer_wheel_set(&w, &timer[i], now + rand() % 200000);
        }
        if (i % 7 == 0) {
            timer_wheel_clear(&w, &timer[i]);
        }
        else {
            left++;
        }
    }
    is_int(w.set, left, "as many are set");
    while (left) {
        int wait = timer_wheel_wait(&w, now);
        timer_wheel_entry *t;

        if (wait < 0 || now > 1000000) {
            lost = left;
            break;
        }
        now += wait;
        while ((t = timer_wheel_pop(&w, now))) {
            early += t->deadline > now;
            late += now - t->deadline > TIMER_WHEEL_TICK;
            left--;
        }
    }
    is_int(lost, 0, "all expire");
    is_int((long)early, 0, "none early");
    is_int((long)late, 0, "none more than a tick late");
    is_int(timer_wheel_wait(&w, now), -1, "nothing to wait for");
}

int main(void)
{
    timer_wheel_entry a = {0}, b = {0};

    timer_wheel_init(&w, 1000000);
    is_int(timer_wheel_wait(&w, 1000000), -1, "none set");
    timer_wheel_set(&w, &a, 1000000 - 5);
    ok(timer_wheel_wait(&w, 1000000) <= TIMER_WHEEL_TICK,
       "a past deadline is next");
    ok(!timer_wheel_pop(&w, 1000050), "not within the tick");
    timer_wheel_set(&w, &b, 1000000 + 5000000);
    ok(timer_wheel_pop(&w, 1000100) == &a, "it expires");
    ok(!timer_wheel_pop(&w, 1000100), "only that");
    ok(!timer_wheel_pop(&w, 1000000 + 4999999),
       "a far one stays, after a jump");
    ok(timer_wheel_pop(&w, 1000000 + 5000100) == &b, "and comes");
    timer_wheel_clear(&w, &b);
    timer_wheel_set(&w, &b, 1000000 + 6000000);
    timer_wheel_set(&w, &a, 1000000 + 6000000);
    ok(timer_wheel_pop(&w, 7000200) == &b, "two of one tick: in order");
    is_int(timer_wheel_wait(&w, 7000200), 0, "the other is waiting");
    timer_wheel_clear(&w, &a);
    ok(!timer_wheel_pop(&w, 7000300), "an expired one can be cleared");
    is_int(w.set, 0, "none left");
    random_timers();
    return done();
}
