/* SPDX-License-Identifier: Apache-2.0 */
#include "loop/balance.h"

/* What another seat can still take. */
typedef struct credit {
    int64_t asked; /* when; ms */
    int left;
    int slot;
} credit;

struct balance {
    seat_table *seats;
    balance_idle *idle;
    credit of[];
};

balance *balance_make(apr_pool_t *p, seat_table *seats, balance_idle *idle)
{
    size_t n = (size_t)seats->seats;
    balance *b = apr_pcalloc(p, sizeof(*b) + n * sizeof(credit));
    size_t i;

    b->seats = seats;
    b->idle = idle;
    for (i = 0; i < n; i++) {
        b->of[i].slot = -1;
    }
    return b;
}

int balance_look(seat_row *row, int64_t age, int idle)
{
    uint32_t saturated = idle <= 0 && age >= BALANCE_LATE;

    if (SEAT_GET(row, saturated) != saturated) {
        SEAT_SET(row, saturated, saturated);
    }
    return (int)saturated;
}

/* How many more a seat can take. */
static int left(balance *b, int seat, int64_t now)
{
    seat_row *row = &b->seats->rows[seat];
    credit *c = &b->of[seat];
    pid_t pid = SEAT_GET(row, pid);

    if (!pid || SEAT_GET(row, state) != SEAT_RUNNING || SEAT_GET(row, saturated)
        || seat_silent(row, now) > BALANCE_FRESH) {
        return 0;
    }
    if (now - c->asked >= BALANCE_AGAIN) {
        c->asked = now;
        c->left = b->idle(pid, &c->slot);
    }
    return c->left;
}

int balance_target(balance *b, int own, int64_t now)
{
    int best = -1, most = 0, i;

    for (i = 0; i < b->seats->seats; i++) {
        int n = i == own ? 0 : left(b, i, now);

        if (n > most) {
            most = n;
            best = i;
        }
    }
    return best;
}

void balance_given(balance *b, int seat)
{
    b->of[seat].left--;
}

void balance_refused(balance *b, int seat)
{
    b->of[seat].left = 0;
}
