/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/key_hints.h"

#include <stdlib.h>
#include <sys/random.h>

#include "base/siphash.h"

/* Slots of the table: with this many, few keys share one. */
#define LEAST 65536u
#define MOST (1u << 21)

static uint64_t secret[2];
static uint64_t *table; /* atomic; 0: empty */
static uint64_t mask;   /* of its slots, a power of two */

int key_hints_make(unsigned keys)
{
    unsigned slots = LEAST;

    while (slots < MOST && slots / 4 < keys) {
        slots *= 2;
    }
    mask = slots - 1;
    /* Untouched pages of it take no memory. */
    table = calloc(slots, sizeof(*table));
    if (!table) {
        return -1;
    }
    return getrandom(secret, sizeof(secret), 0) == sizeof(secret) ? 0 : -1;
}

static uint64_t mark(const unsigned char *key, size_t len, int any)
{
    uint64_t m = siphash_13(secret, key, len) | 1;

    return any ? ~m | 1 : m;
}

static uint64_t *slot(uint64_t m)
{
    return &table[(m >> 32) & mask];
}

void key_hints_add(const unsigned char *key, size_t len, int any)
{
    uint64_t m = mark(key, len, any);

    __atomic_store_n(slot(m), m, __ATOMIC_RELAXED);
}

void key_hints_forget(const unsigned char *key, size_t len, int any)
{
    uint64_t m = mark(key, len, any);

    if (__atomic_load_n(slot(m), __ATOMIC_RELAXED) == m) {
        __atomic_store_n(slot(m), 0, __ATOMIC_RELAXED);
    }
}

void key_hints_clear(void)
{
    uint64_t i;

    for (i = 0; i <= mask; i++) {
        __atomic_store_n(&table[i], 0, __ATOMIC_RELAXED);
    }
}

int key_hints_has(const unsigned char *key, size_t len, int any)
{
    uint64_t m = mark(key, len, any);

    return __atomic_load_n(slot(m), __ATOMIC_RELAXED) == m;
}
