/* SPDX-License-Identifier: Apache-2.0 */
/* links: src/affinity/seat.c
 * Seats: claimed once, released, taken over from the dead, raced for. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

#include "affinity/seat.h"

#define SEATS 7
#define RACERS 24

static void test_claims(apr_pool_t *p)
{
    seat_table *t = seat_table_make(p, 3);

    is_int(t->seats, 3, "three seats");
    is_int(seat_holder(t, 0), 0, "nobody has the first");
    is_int(seat_claim(t), 0, "the lowest free seat");
    is_int(seat_claim(t), 0, "a process holds one seat only");
    is_int(seat_holder(t, 0), getpid(), "and is its holder");
    is_int(seat_release(t, getpid()), 0, "given up");
    is_int(seat_release(t, getpid()), -1, "once");
    is_int(t->rows[0].previous, getpid(), "who had it is remembered");
    is_int(seat_release(t, 1), -1, "nobody else's is touched");
}

static void test_dead(apr_pool_t *p)
{
    seat_table *t = seat_table_make(p, 1);
    pid_t child = fork();
    int status;

    if (!child) {
        _exit(seat_claim(t));
    }
    waitpid(child, &status, 0);
    is_int(WEXITSTATUS(status), 0, "a child claims the seat and dies");
    is_int(t->rows[0].pid, child, "its pid stands there still");
    is_int(seat_holder(t, 0), 0, "but nobody living has the seat");
    SEAT_ADD(&t->rows[0], accepts, 5);
    SEAT_SET(&t->rows[0], connections, 9);
    is_int(seat_claim(t), 0, "which is free for another");
    is_int((long)SEAT_GET(&t->rows[0], accepts), 5, "counters go on");
    is_int((long)SEAT_GET(&t->rows[0], connections), 0, "gauges start anew");
}

/* More processes than seats, all at once: each seat has one holder. */
static void test_race(apr_pool_t *p)
{
    seat_table *t = seat_table_make(p, SEATS);
    pid_t child[RACERS];
    int got[SEATS] = {0}, none = 0, twice = 0, i, ready[2], hold[2];
    signed char seat;

    if (pipe(ready) || pipe(hold)) {
        exit(1);
    }
    for (i = 0; i < RACERS; i++) {
        child[i] = fork();
        if (!child[i]) {
            char c;

            close(hold[1]);
            seat = (signed char)seat_claim(t);
            if (write(ready[1], &seat, 1) != 1 || read(hold[0], &c, 1)) {
                _exit(1); /* lives until all have claimed */
            }
            _exit(0);
        }
    }
    for (i = 0; i < RACERS && read(ready[0], &seat, 1) == 1; i++) {
        if (seat < 0) {
            none++;
        }
        else {
            twice += got[seat]++;
        }
    }
    is_int(i, RACERS, "all have claimed");
    is_int(none, RACERS - SEATS, "those that came too late have none");
    is_int(twice, 0, "no seat was given twice");
    close(hold[1]);
    for (i = 0; i < RACERS; i++) {
        waitpid(child[i], NULL, 0);
    }
    is_int(seat_claim(t), 0, "all are free after their ends");
}

/* What a child writes into the memory does not lead the parent astray: any
 * bytes, and after them the rows are cleared and claimed as ever. */
static void test_hostile(apr_pool_t *p)
{
    seat_table *t = seat_table_make(p, 5);
    size_t size = sizeof(seat_shared) + 5 * sizeof(seat_row), i;
    unsigned char *bytes = (unsigned char *)t->shared;
    int64_t silent;
    int round, good = 0, seat;

    srandom(11);
    for (round = 0; round < 3000; round++) {
        for (i = 0; i < size; i++) {
            bytes[i] = (unsigned char)(random() % 5 ? random() : 255);
        }
        seat = seat_claim(t);
        for (i = 0; i < 5; i++) {
            seat_holder(t, (int)i);
            silent = seat_silent(&t->rows[i], 1000000);
            good += silent >= 0 && silent <= 1000000;
        }
        good += seat >= -1 && seat < 5 && seat_release(t, getpid()) == seat;
        memset(t->rows, 0, 5 * sizeof(seat_row));
        good += seat_claim(t) == 0 && seat_release(t, getpid()) == 0;
    }
    is_int(good, 3000 * 7, "the parent and a child keep to their own count");
}

/* The one notion of load: by the seat's own beats. */
static void test_load(apr_pool_t *p)
{
    seat_row *row = seat_table_make(p, 1)->rows;
    seat_moment was = {0, 0};

    row->beat = 1000;
    row->busy_us = 5000;
    ok(seat_load(row, &was, 1) < 0, "nothing to compare with");
    seat_look(row, &was);
    ok(seat_load(row, &was, 1) < 0, "no beat since");
    row->beat = 1400;
    row->busy_us = 5000 + 100000;
    ok(seat_load(row, &was, 1) > 0.24 && seat_load(row, &was, 1) < 0.26,
       "busy for 100 of 400 ms");
    ok(seat_load(row, &was, 500) < 0, "too short to say");
    row->saturated = 1;
    ok(seat_load(row, &was, 1) >= 1, "a saturated seat is as busy as can be");
    row->saturated = 0;
    row->busy_us = 5000 + 900000;
    ok(seat_load(row, &was, 1) <= 1, "never more than 1");
    row->busy_us = 10;
    ok(seat_load(row, &was, 1) < 0, "a successor's thread began anew");
}

int main(void)
{
    apr_pool_t *p;

    apr_initialize();
    apr_pool_create(&p, NULL);
    test_claims(p);
    test_dead(p);
    test_race(p);
    test_hostile(p);
    test_load(p);
    apr_pool_destroy(p);
    return done();
}
