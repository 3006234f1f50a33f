#include "fixed/balance.h"

#include <string.h>

/* What another seat can still take, by its own last report. */
typedef struct credit {
    uint64_t beat;
    int left;
} credit;

struct balance {
    seat_table *seats;
    credit of[];
};

balance *balance_make(apr_pool_t *p, seat_table *seats)
{
    balance *b =
        apr_pcalloc(p, sizeof(*b) + (size_t)seats->seats * sizeof(credit));

    b->seats = seats;
    return b;
}

int balance_look(balance *b, seat_row *row, int64_t age, int idle)
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
    uint64_t beat = SEAT_GET(row, beat);

    if (!SEAT_GET(row, pid) || SEAT_GET(row, state) != SEAT_RUNNING
        || SEAT_GET(row, saturated) || now - (int64_t)beat > BALANCE_FRESH) {
        return 0;
    }
    if (c->beat != beat) {
        c->beat = beat;
        c->left = (int)SEAT_GET(row, idle_workers);
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
