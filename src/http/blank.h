/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blank: blank lines between two requests of a connection, which httpd skips.
 * Pure.
 */
#ifndef CPUAFFINITY_BLANK_H
#define CPUAFFINITY_BLANK_H

#include <stddef.h>

/*
 * Measures the complete blank lines (LF or CRLF) that the bytes begin with.
 * @param most at most this many are skipped; one more ends the connection
 * @param over set to 1 when there is one more, and counting stops there;
 *        otherwise left alone
 * @return their length in bytes
 */
size_t blank_skip(const char *bytes, size_t len, int most, int *over);

#endif
