/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advise_text: advice for people. Its texts come from a server that may say
 * what it likes, and go to a terminal.
 */
#ifndef CPUAFFINITY_ADVISE_TEXT_H
#define CPUAFFINITY_ADVISE_TEXT_H

#include <stdio.h>

#include <jansson.h>

#include <apr_pools.h>

/* Of text in UTF-8: control characters, and those that turn the direction of
 * writing, as \x1b or \u202e; at most some hundred bytes. From @a p. */
const char *advise_text_safe(apr_pool_t *p, const char *text);

/* Prints what advice_make() made. @param most rows that are listed; 0: all */
void advise_text_print(apr_pool_t *p, FILE *out, const json_t *advice,
                       size_t most);

#endif
