/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linear: regular expressions that are looked for in time linear in the text,
 * whatever the text is: the loop evaluates no others. A set of expressions
 * becomes a few automata of positions (Glushkov), 64 positions each; a byte
 * of text costs each of them at most a few table look-ups. What is not of the
 * form is refused, never approximated. Read-only once made: any thread. No
 * httpd header is needed.
 *
 * The form, with PCRE's meaning: alternatives, each of which may begin with
 * ^ or \b and end with $ or \b; in them characters, \ before punctuation, .,
 * \d \w \s \D \W \S, classes of single characters, ranges and those escapes,
 * groups ( ) and (?: ), and ? * + (lazy ones too). No alternative may match
 * the empty text.
 */
#ifndef CPUAFFINITY_LINEAR_H
#define CPUAFFINITY_LINEAR_H

#include <stddef.h>

/* Automata in a set at most: with 64 positions each, the most that a byte of
 * text can cost. */
#define LINEAR_AUTOMATA 16

typedef struct linear linear;

/* An empty set, from malloc; NULL without memory. */
linear *linear_make(void);

void linear_free(linear *set);

/*
 * Adds an expression.
 * @param icase 1: letters (of ASCII) in any case
 * @return 0; or -1, the set is as it was: not of the form, too large, or no
 *         memory
 */
int linear_add(linear *set, const char *pattern, int icase);

/* 1 when one of the expressions is found in @a text, which has no line end
 * and no byte from 0x80 on (as the recogniser's values; another byte matches
 * nothing but a negated class). */
int linear_found(const linear *set, const char *text, size_t len);

#endif
