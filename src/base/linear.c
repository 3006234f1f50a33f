/* SPDX-License-Identifier: Apache-2.0 */
#include "base/linear.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/linear_parse.h"

struct linear {
    unsigned n;
    linear_automaton *automata[LINEAR_AUTOMATA];
};

linear *linear_make(void)
{
    return calloc(1, sizeof(linear));
}

void linear_free(linear *set)
{
    while (set && set->n) {
        free(set->automata[--set->n]);
    }
    free(set);
}

/* Adds one alternative to the last automaton or to a new one. 0 or -1 */
static int add_branch(linear *set, const char **p, int icase)
{
    linear_automaton *a;

    if (set->n && !linear_parse(set->automata[set->n - 1], p, icase)) {
        return 0;
    }
    a = set->n < LINEAR_AUTOMATA ? calloc(1, sizeof(*a)) : NULL;
    if (!a || linear_parse(a, p, icase)) {
        free(a);
        return -1;
    }
    set->automata[set->n++] = a;
    return 0;
}

int linear_add(linear *set, const char *pattern, int icase)
{
    unsigned n = set->n;
    linear_automaton *before = NULL;

    if (n) {
        before = malloc(sizeof(*before));
        if (!before) {
            return -1;
        }
        *before = *set->automata[n - 1];
    }
    for (;;) {
        if (add_branch(set, &pattern, icase)) {
            break;
        }
        if (!*pattern) {
            free(before);
            return 0;
        }
        pattern++; /* the bar */
    }
    while (set->n > n) {
        free(set->automata[--set->n]);
    }
    if (before) {
        free(set->automata[n - 1]);
        set->automata[n - 1] = before;
    }
    return -1;
}

/* The positions that can come after those of @a on. */
static uint64_t follow(const linear_automaton *a, uint64_t on)
{
    uint64_t next = 0;
    unsigned i;

    for (i = 0; i < a->bytes; i++) {
        next |= a->follow[i][on >> 8 * i & 0xff];
    }
    return next;
}

/* Whether an alternative ends at one of the positions, @a p being next. */
static int accepts(const linear_automaton *a, uint64_t on, const char *p,
                   const char *end)
{
    if (on & a->last) {
        return 1;
    }
    if (p == end) {
        return (on & a->last_end) != 0
               || ((on & a->last_word) != 0 && linear_is_word(p[-1]));
    }
    return (on & a->last_word) != 0
           && linear_is_word(p[-1]) != linear_is_word(*p);
}

static int found(const linear_automaton *a, const char *text, size_t len)
{
    const char *p = text, *end = text + len;
    const uint64_t start = a->first | a->first_word;
    uint64_t on = 0, begin;

    while (p < end) {
        begin = a->first;
        if (!on && p > text) {
            if (!start) {
                return 0;
            }
            /* No match under way: skip to a byte that can begin one. */
            while (p < end && !(start & a->at[(unsigned char)*p])) {
                p++;
            }
            if (p == end) {
                return 0;
            }
        }
        if (p == text) {
            begin |= a->first_begin;
        }
        if (a->first_word
            && (p > text && linear_is_word(p[-1])) != linear_is_word(*p)) {
            begin |= a->first_word;
        }
        on = (follow(a, on) | begin) & a->at[(unsigned char)*p++];
        if ((on & a->finals) && accepts(a, on, p, end)) {
            return 1;
        }
    }
    return 0;
}

int linear_found(const linear *set, const char *text, size_t len)
{
    unsigned i;

    for (i = 0; i < set->n; i++) {
        if (found(set->automata[i], text, len)) {
            return 1;
        }
    }
    return 0;
}
