/* SPDX-License-Identifier: Apache-2.0 */
/*
 * put: appends text to a head that is being made. The caller has seen to the
 * room. Pure, any thread.
 */
#ifndef CPUAFFINITY_PUT_H
#define CPUAFFINITY_PUT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Appends text of a known length. @return the new end */
static inline char *put(char *p, const char *text, size_t len)
{
    memcpy(p, text, len);
    return p + len;
}

#define PUT(p, literal) put(p, literal, sizeof(literal) - 1)

/* Appends a number that is not negative, at most 20 digits. */
static inline char *put_number(char *p, int64_t n)
{
    char digits[20];
    int i = (int)sizeof(digits);

    do {
        digits[--i] = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    return put(p, digits + i, sizeof(digits) - (size_t)i);
}

#endif
