/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linear_parse: parses an alternative of a regular expression into positions
 * of an automaton; a position is a place in the expression that matches one
 * byte. Internal to linear.
 */
#ifndef CPUAFFINITY_LINEAR_PARSE_H
#define CPUAFFINITY_LINEAR_PARSE_H

#include <stdint.h>

#define LINEAR_POSITIONS 64

/* A set of positions is the bits of a word. All zero: matches nothing. */
typedef struct linear_automaton {
    unsigned used;        /* positions */
    unsigned bytes;       /* bytes of a set in use: rows of follow */
    uint64_t at[256];     /* which positions match this byte */
    uint64_t first;       /* where an alternative can begin: anywhere, */
    uint64_t first_begin; /* at the text's first byte, */
    uint64_t first_word;  /* at a word boundary */
    uint64_t last;        /* where one can end: anywhere, */
    uint64_t last_end;    /* at the text's end, */
    uint64_t last_word;   /* at a word boundary */
    uint64_t finals;      /* all three */
    uint64_t after[LINEAR_POSITIONS]; /* what can follow a position */
    uint64_t follow[8][256];          /* what can follow a byte of a set */
} linear_automaton;

/* PCRE's \w in the C locale. */
int linear_is_word(char c);

/*
 * Adds the alternative at *p, up to its bar or the end, and moves *p there.
 * @return 0; or -1 with both unchanged: unsupported syntax, or no room
 */
int linear_parse(linear_automaton *a, const char **p, int icase);

#endif
