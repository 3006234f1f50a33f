/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linear_parse: an alternative of a regular expression, as positions of an
 * automaton: a position is a place of the expression that takes one byte.
 * Internal to linear.
 */
#ifndef CPUAFFINITY_LINEAR_PARSE_H
#define CPUAFFINITY_LINEAR_PARSE_H

#include <stdint.h>

#define LINEAR_POSITIONS 64

/* Sets of positions are bits of a word. All zero: it takes nothing. */
typedef struct linear_automaton {
    unsigned used;        /* positions */
    unsigned bytes;       /* of a set that are in use: rows of follow */
    uint64_t at[256];     /* which positions take this byte */
    uint64_t first;       /* where an alternative can begin: anywhere, */
    uint64_t first_begin; /* at the text's first byte, */
    uint64_t first_word;  /* at a word's border */
    uint64_t last;        /* where one can end: anywhere, */
    uint64_t last_end;    /* at the text's end, */
    uint64_t last_word;   /* at a word's border */
    uint64_t finals;      /* all three */
    uint64_t after[LINEAR_POSITIONS]; /* what can follow a position */
    uint64_t follow[8][256];          /* and each byte of a set of them */
} linear_automaton;

/* PCRE's \w in the C locale. */
int linear_is_word(char c);

/*
 * Adds the alternative at *p, up to its bar or the end, and moves *p there.
 * @return 0; or -1, both are as they were: not of the form, or no room
 */
int linear_parse(linear_automaton *a, const char **p, int icase);

#endif
