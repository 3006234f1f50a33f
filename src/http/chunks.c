/* SPDX-License-Identifier: Apache-2.0 */
#include "http/chunks.h"

#include <string.h>

/* Digits of a size; more would be longer than any body that is kept. */
#define DIGITS 8

/* The size at @a p in lower-case hexadecimal without leading zeros, and where
 * its line ends; -1: none. */
static int64_t size_at(const char *p, const char *end, const char **after)
{
    int64_t size = 0;
    const char *from = p;

    for (; p < end && p - from <= DIGITS; p++) {
        if (*p >= '0' && *p <= '9') {
            size = size * 16 + *p - '0';
        }
        else if (*p >= 'a' && *p <= 'f') {
            size = size * 16 + *p - 'a' + 10;
        }
        else {
            break;
        }
    }
    if (p == from || p - from > DIGITS || end - p < 2 || memcmp(p, "\r\n", 2)
        || (*from == '0' && p - from > 1)) {
        return -1;
    }
    *after = p + 2;
    return size;
}

int64_t chunks_content(const char *body, size_t len)
{
    const char *p = body, *end = body + len;
    int64_t sum = 0, size;

    while ((size = size_at(p, end, &p)) > 0) {
        if (end - p < size + 2 || memcmp(p + size, "\r\n", 2)) {
            return -1;
        }
        p += size + 2;
        sum += size;
    }
    return size == 0 && end - p == 2 && !memcmp(p, "\r\n", 2) ? sum : -1;
}
