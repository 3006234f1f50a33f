/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linear: regular expressions that are searched for in time linear in the
 * length of the text, whatever it contains; the loop evaluates no others. A
 * set of expressions becomes a few position (Glushkov) automata of 64
 * positions each; a byte of text costs each of them at most a few table
 * look-ups. What is outside the supported syntax is refused, never
 * approximated. Read-only once built: any thread. No httpd header is needed.
 *
 * The supported syntax, with PCRE's meaning: alternatives, each of which may
 * begin with ^ or \b and end with $ or \b; in them characters, \ before
 * punctuation, ., \d \w \s \D \W \S, classes of single characters, ranges and
 * those escapes, groups ( ) and (?: ), and ? * + (lazy ones too). No
 * alternative may match the empty string.
 */
#ifndef CPUAFFINITY_LINEAR_H
#define CPUAFFINITY_LINEAR_H

#include <stddef.h>

/* Most automata in a set, of 64 positions each: this bounds what a byte of
 * text can cost. */
#define LINEAR_AUTOMATA 16

typedef struct linear linear;

/* An empty set, for linear_free(); NULL when out of memory. */
linear *linear_make(void);

void linear_free(linear *set);

/*
 * Adds an expression.
 * @param icase 1: letters (of ASCII) in any case
 * @return 0; or -1 with the set unchanged: unsupported syntax, too large, or
 *         out of memory
 */
int linear_add(linear *set, const char *pattern, int icase);

/* 1 when one of the expressions matches somewhere in @a text, which has no
 * line end and no byte above 0x7f (such are the recogniser's values; any other
 * byte matches nothing but a negated class). */
int linear_found(const linear *set, const char *text, size_t len);

#endif
