/* SPDX-License-Identifier: Apache-2.0 */
/*
 * response_expires: whether two heads of httpd agree that may have an Expires
 * that moves with the clock. Pure, any thread. Internal to response.
 */
#ifndef CPUAFFINITY_RESPONSE_EXPIRES_H
#define CPUAFFINITY_RESPONSE_EXPIRES_H

#include <stddef.h>
#include <stdint.h>

/*
 * 1 when two heads are the same from @a at on, but for the date in Expires.
 * @param len of both
 * @param expires offset of that date in both, not before @a at; 0: there is
 *        none that moves
 */
int response_expires_is_same(const char *a, const char *b, size_t at,
                             size_t len, size_t expires);

/*
 * 1 when so much time lies between two captured answers that what moves with
 * the clock would have moved: see response_is_later().
 * @param a, b their Dates, seconds since 1970
 * @param clocked 0: a module that reads the clock has no say here
 * @param expires as above
 */
int response_expires_is_later(int64_t a, int64_t b, int clocked,
                              size_t expires);

#endif
