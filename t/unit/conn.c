/* SPDX-License-Identifier: Apache-2.0 */
/* conn: the slab.
 * links: src/loop/conn.c src/handoff/handoff.c
 */
#include "t/unit/tap.h"
#include "loop/conn.h"

#include <stdlib.h>

#define MANY 1000

int main(void)
{
    static conn *c[MANY];
    conn_slab s;
    handoff p;
    conn *x;
    int i, n = 0, same = 0;

    ok(sizeof(conn) < 300, "an idle connection takes %d bytes",
       (int)sizeof(conn));
    conn_slab_init(&s);
    for (i = 0; i < MANY; i++) {
        c[i] = conn_alloc(&s);
        c[i]->keepalives = (uint32_t)i;
    }
    is_int(s.count, MANY, "count");
    for (x = s.open.next; x != &s.open; x = x->next) {
        n += x == c[n];
    }
    is_int(n, MANY, "the ring has all, oldest first");
    conn_free(&s, c[10]);
    for (i = 0; i < 200; i++) {
        same += conn_alloc(&s) == c[10];
    }
    is_int(same, 0, "a freed one is not used again in the same turn");
    is_int(c[10]->state, CONN_FREE, "its state");
    c[10]->watch.ready(NULL, &c[10]->watch, 1);
    conn_reap(&s);
    ok(conn_alloc(&s) == c[10], "but in the next");
    is_int(c[10]->fd, -1, "fresh");

    x = c[3];
    x->fd = -1;
    x->in = malloc(4);
    x->in_len = x->in_size = 4;
    x->keepalives = 9;
    x->state = CONN_READING;
    conn_pack(x, &p);
    ok(p.len == 4 && p.bytes && p.keepalives == 9 && !p.idle, "packed");
    ok(!x->in && !x->in_len, "moved out");
    conn_free(&s, x);
    x = conn_alloc(&s);
    conn_unpack(x, &p);
    ok(x->in && x->in_len == 4 && x->keepalives == 9, "unpacked");
    ok(!p.bytes, "moved in");
    conn_free(&s, x);
    x = conn_alloc(&s);
    x->state = CONN_IDLE;
    conn_pack(x, &p);
    is_int(p.idle, 1, "an idle one is an idle handoff");
    while (s.open.next != &s.open) {
        conn_free(&s, s.open.next);
    }
    conn_slab_free(&s);
    is_int(s.count, 0, "freed");
    return done();
}
