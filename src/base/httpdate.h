/* SPDX-License-Identifier: Apache-2.0 */
/*
 * httpdate: the one date format that HTTP servers and clients send
 * ("Sun, 06 Nov 1994 08:49:37 GMT"). Pure, any thread.
 */
#ifndef CPUAFFINITY_HTTPDATE_H
#define CPUAFFINITY_HTTPDATE_H

#include <stddef.h>
#include <stdint.h>

#define HTTPDATE_LEN 29

/*
 * Parses exactly this format into seconds since 1970; dates from 1970 to 2100.
 * @return the seconds, or -1. What is accepted here means the same to
 *         apr_date_parse_http (which accepts much more); as there, the
 *         weekday is not checked against the date.
 */
int64_t httpdate_parse(const char *text, size_t len);

/* Formats @a seconds since 1970 (not negative); no terminating zero. */
void httpdate_format(char out[HTTPDATE_LEN], int64_t seconds);

#endif
