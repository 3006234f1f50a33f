/* SPDX-License-Identifier: Apache-2.0 */
#include "loop/conn.h"

#include <stdlib.h>
#include <string.h>

#define PER_BLOCK 64

struct conn_block {
    struct conn_block *next;
    conn conns[PER_BLOCK];
};

void conn_slab_init(conn_slab *s)
{
    memset(s, 0, sizeof(*s));
    s->open.next = s->open.prev = &s->open;
}

void conn_slab_free(conn_slab *s)
{
    while (s->blocks) {
        struct conn_block *b = s->blocks;

        s->blocks = b->next;
        free(b);
    }
    conn_slab_init(s);
}

static int grow(conn_slab *s)
{
    struct conn_block *b = calloc(1, sizeof(*b));
    int i;

    if (!b) {
        return -1;
    }
    b->next = s->blocks;
    s->blocks = b;
    for (i = 0; i < PER_BLOCK; i++) {
        b->conns[i].next = s->free;
        s->free = &b->conns[i];
    }
    return 0;
}

static void append(conn_slab *s, conn *c)
{
    c->prev = s->open.prev;
    c->next = &s->open;
    c->prev->next = c;
    s->open.prev = c;
}

static void take_out(conn *c)
{
    c->prev->next = c->next;
    c->next->prev = c->prev;
}

conn *conn_alloc(conn_slab *s)
{
    conn *c;

    if (!s->free && grow(s)) {
        return NULL;
    }
    c = s->free;
    s->free = c->next;
    memset(c, 0, sizeof(*c));
    c->fd = -1;
    append(s, c);
    s->count++;
    return c;
}

void conn_last(conn_slab *s, conn *c)
{
    take_out(c);
    append(s, c);
}

static void stale(struct loop *l, watch *w, uint32_t events)
{
}

void conn_free(conn_slab *s, conn *c)
{
    if (c->note && c->drop_note) {
        c->drop_note(c->note);
    }
    if (c->kept) {
        c->drop_kept(c->kept);
    }
    free(c->in);
    c->note = NULL;
    c->kept = NULL;
    c->in = NULL;
    take_out(c);
    c->state = CONN_FREE;
    c->watch.ready = stale;
    c->next = s->freed;
    s->freed = c;
    s->count--;
    s->tls -= c->tls;
}

void conn_reap(conn_slab *s)
{
    while (s->freed) {
        conn *c = s->freed;

        s->freed = c->next;
        c->next = s->free;
        s->free = c;
    }
}

void conn_pack(conn *c, handoff *p)
{
    handoff_init(p);
    p->fd = c->fd;
    p->remote = c->remote;
    p->local = c->local;
    p->keepalives = c->keepalives;
    p->moved = c->moved;
    p->expired = c->expired;
    p->idle = c->state == CONN_IDLE && !c->in_len;
    p->deadline = c->timer.next ? c->timer.deadline : 0;
    p->note = c->note;
    p->drop_note = c->drop_note;
    p->kept = c->kept;
    p->drop_kept = c->drop_kept;
    p->ending = c->ending;
    if (c->in_len) {
        p->bytes = c->in;
        p->len = c->in_len;
        c->in = NULL;
        c->in_len = 0;
    }
    c->fd = -1;
    c->note = NULL;
    c->kept = NULL;
}

void conn_unpack(conn *c, handoff *p)
{
    c->fd = p->fd;
    c->remote = p->remote;
    c->local = p->local;
    c->keepalives = p->keepalives;
    c->moved = p->moved != 0;
    c->expired = p->expired != 0;
    c->note = p->note;
    c->drop_note = p->drop_note;
    c->kept = p->kept;
    c->drop_kept = p->drop_kept;
    c->ending = (uint8_t)p->ending;
    c->in = p->bytes;
    c->in_len = c->in_size = (uint32_t)p->len;
    handoff_init(p);
}
