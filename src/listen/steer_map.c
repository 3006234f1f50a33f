/* SPDX-License-Identifier: Apache-2.0 */
#include "listen/steer_map.h"

#include <hwloc/bitmap.h>

/* Which seats claim a CPU, while the sets are scanned. */
typedef struct claim {
    int base, count, stride, last;
    int uneven;
} claim;

static void note_claim(claim *c, int seat)
{
    if (!c->count) {
        c->base = seat;
        c->stride = 1;
    }
    else if (c->count == 1) {
        c->stride = seat - c->last;
    }
    else if (seat - c->last != c->stride) {
        c->uneven = 1;
    }
    c->last = seat;
    c->count++;
}

static void settle_claim(claim *c)
{
    if (c->uneven) {
        c->count = 1;
    }
    if (c->count == 1) {
        c->stride = 1;
    }
}

/* Adds one CPU's claim: extends the last run or begins a new one. */
static void add_run(steermap *m, int cpu, const claim *c)
{
    steer_map_run *r = m->nruns ? &m->runs[m->nruns - 1] : NULL;

    if (r && r->last == cpu - 1 && r->count == c->count
        && r->stride == c->stride) {
        int step = c->base - (r->base + (r->last - r->first) * r->slope);

        if ((r->first == r->last && (step == 0 || step == 1))
            || step == r->slope) {
            r->slope = step;
            r->last = cpu;
            return;
        }
    }
    m->runs[m->nruns++] =
        (steer_map_run){cpu, cpu, c->base, 0, c->count, c->stride};
}

steermap *steer_map_make(apr_pool_t *p, const cpuset *const *sets, int seats)
{
    steermap *m = apr_pcalloc(p, sizeof(*m));
    int cpus = 0, cpu, i;
    claim *claims;

    m->seats = seats;
    m->cpu = apr_palloc(p, sizeof(int) * seats);
    for (i = 0; i < seats; i++) {
        int last = hwloc_bitmap_last(sets[i]);

        cpus = last >= cpus ? last + 1 : cpus;
    }
    claims = apr_pcalloc(p, sizeof(*claims) * (cpus + 1));
    m->runs = apr_pcalloc(p, sizeof(*m->runs) * (cpus + 1));
    m->single = 1;
    for (i = 0; i < seats; i++) {
        m->cpu[i] = hwloc_bitmap_first(sets[i]);
        m->single &= hwloc_bitmap_weight(sets[i]) == 1;
        for (cpu = m->cpu[i]; cpu >= 0; cpu = hwloc_bitmap_next(sets[i], cpu)) {
            note_claim(&claims[cpu], i);
        }
    }
    for (cpu = 0; cpu < cpus; cpu++) {
        if (!claims[cpu].count) {
            continue;
        }
        m->single &= claims[cpu].count == 1;
        settle_claim(&claims[cpu]);
        add_run(m, cpu, &claims[cpu]);
    }
    return m;
}

/* A program being written. Past the room instructions are only counted. */
typedef struct writer {
    struct sock_filter *code;
    int room;
    int length;
} writer;

static void put(writer *w, unsigned short op, unsigned k)
{
    if (w->length < w->room) {
        w->code[w->length] = (struct sock_filter)BPF_STMT(op, k);
    }
    w->length++;
}

static void put_random(writer *w, int below)
{
    put(w, BPF_LD | BPF_W | BPF_ABS, (unsigned)(SKF_AD_OFF + SKF_AD_RANDOM));
    put(w, BPF_ALU | BPF_MOD | BPF_K, (unsigned)below);
}

static void put_add(writer *w, int n)
{
    if (n) {
        put(w, BPF_ALU | BPF_K | (n > 0 ? BPF_ADD : BPF_SUB),
            (unsigned)(n > 0 ? n : -n));
    }
}

/* The answer for a run; the accumulator holds the CPU. */
static void put_run(writer *w, const steer_map_run *r)
{
    if (r->count == 1 && !r->slope) {
        put(w, BPF_RET | BPF_K, (unsigned)r->base);
        return;
    }
    if (r->slope) {
        put_add(w, r->base - r->first);
    }
    if (r->count > 1) {
        if (r->slope) {
            put(w, BPF_ST, 0);
        }
        put_random(w, r->count);
        put(w, BPF_ALU | BPF_MUL | BPF_K, (unsigned)r->stride);
        if (r->slope) {
            put(w, BPF_LDX | BPF_MEM, 0);
            put(w, BPF_ALU | BPF_ADD | BPF_X, 0);
        }
        else {
            put_add(w, r->base);
        }
    }
    put(w, BPF_RET | BPF_A, 0);
}

/* A leaf of the search tree: a run or a gap between runs, up to where the
 * next begins. */
typedef struct leaf {
    int first;
    const steer_map_run *run; /* NULL: a gap */
} leaf;

static void put_leaf(writer *w, const steermap *m, const leaf *l)
{
    if (l->run) {
        put_run(w, l->run);
    }
    else {
        put_random(w, m->seats);
        put(w, BPF_RET | BPF_A, 0);
    }
}

/* A binary search over leaves[0..n-1]: depth log n. A conditional jump
 * reaches 255 instructions, so a longer lower half is jumped over by "ja". */
static void put_tree(writer *w, const steermap *m, const leaf *leaves, int n)
{
    int half = n / 2, at;
    writer measure = {NULL, 0, 0};

    if (n == 1) {
        put_leaf(w, m, leaves);
        return;
    }
    put_tree(&measure, m, leaves, half);
    at = w->length;
    put(w, BPF_JMP | BPF_JGE | BPF_K, (unsigned)leaves[half].first);
    if (at < w->room) {
        if (measure.length > 255) {
            w->code[at].jf = 1;
        }
        else {
            w->code[at].jt = (unsigned char)measure.length;
        }
    }
    if (measure.length > 255) {
        put(w, BPF_JMP | BPF_JA, (unsigned)measure.length);
    }
    put_tree(w, m, leaves, half);
    put_tree(w, m, leaves + half, n - half);
}

int steer_map_program(const steermap *m, struct sock_filter *code, int room)
{
    writer w = {code, room, 0};
    leaf leaves[BPF_MAXINSNS]; /* each takes at least one instruction */
    int n = 0, next = 0, i;

    for (i = 0; i < m->nruns; i++) {
        if (n + 3 > BPF_MAXINSNS) {
            return -1;
        }
        if (m->runs[i].first != next) {
            leaves[n++] = (leaf){next, NULL};
        }
        leaves[n++] = (leaf){m->runs[i].first, &m->runs[i]};
        next = m->runs[i].last + 1;
    }
    leaves[n++] = (leaf){next, NULL};
    put(&w, BPF_LD | BPF_W | BPF_ABS, (unsigned)(SKF_AD_OFF + SKF_AD_CPU));
    put_tree(&w, m, leaves, n);
    return w.length <= room ? w.length : -1;
}

int steer_map_random(int seats, struct sock_filter *code)
{
    writer w = {code, 3, 0};

    put_random(&w, seats);
    put(&w, BPF_RET | BPF_A, 0);
    return w.length;
}
