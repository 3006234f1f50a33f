/* wheel: timers against a sorted list.
 * links: src/base/timer_wheel.c
 */
#include "t/unit/tap.h"
#include "base/timer_wheel.h"

#include <stdlib.h>

#define MANY 3000

static wheel w;
static wheel_timer timer[MANY];

static void random_timers(void)
{
    int64_t now = 5000, early = 0, late = 0;
    int left = 0, i, lost = 0;

    srand(1);
    wheel_init(&w, now);
    for (i = 0; i < MANY; i++) {
        wheel_set(&w, &timer[i], now + rand() % 200000);
        if (i % 3 == 0) {
            wheel_set(&w, &timer[i], now + rand() % 200000);
        }
        if (i % 7 == 0) {
            wheel_clear(&w, &timer[i]);
        }
        else {
            left++;
        }
    }
    is_int(w.set, left, "as many are set");
    while (left) {
        int wait = wheel_wait(&w, now);
        wheel_timer *t;

        if (wait < 0 || now > 1000000) {
            lost = left;
            break;
        }
        now += wait;
        while ((t = wheel_pop(&w, now))) {
            early += t->deadline > now;
            late += now - t->deadline > WHEEL_TICK;
            left--;
        }
    }
    is_int(lost, 0, "all expire");
    is_int((long)early, 0, "none early");
    is_int((long)late, 0, "none more than a tick late");
    is_int(wheel_wait(&w, now), -1, "nothing to wait for");
}

int main(void)
{
    wheel_timer a = {0}, b = {0};

    wheel_init(&w, 1000000);
    is_int(wheel_wait(&w, 1000000), -1, "none set");
    wheel_set(&w, &a, 1000000 - 5);
    ok(wheel_wait(&w, 1000000) <= WHEEL_TICK, "a past deadline is next");
    ok(!wheel_pop(&w, 1000050), "not within the tick");
    wheel_set(&w, &b, 1000000 + 5000000);
    ok(wheel_pop(&w, 1000100) == &a, "it expires");
    ok(!wheel_pop(&w, 1000100), "only that");
    ok(!wheel_pop(&w, 1000000 + 4999999), "a far one stays, after a jump");
    ok(wheel_pop(&w, 1000000 + 5000100) == &b, "and comes");
    wheel_clear(&w, &b);
    wheel_set(&w, &b, 1000000 + 6000000);
    wheel_set(&w, &a, 1000000 + 6000000);
    ok(wheel_pop(&w, 7000200) == &b, "two of one tick: in order");
    is_int(wheel_wait(&w, 7000200), 0, "the other is waiting");
    wheel_clear(&w, &a);
    ok(!wheel_pop(&w, 7000300), "an expired one can be cleared");
    is_int(w.set, 0, "none left");
    random_timers();
    return done();
}
