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
 * Seconds since 1970 of exactly this format, from 1970 to 2100, or -1. What
 * is accepted here means the same to apr_date_parse_http (which accepts much
 * more); the weekday's name is not compared with the date, as there.
 */
int64_t httpdate_parse(const char *text, size_t len);

/* Writes @a seconds since 1970 (not negative), not terminated. */
void httpdate_format(char out[HTTPDATE_LEN], int64_t seconds);

#endif
