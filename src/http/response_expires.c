/* SPDX-License-Identifier: Apache-2.0 */
#include "http/response_expires.h"

#include <string.h>

#include "http/response_data.h"

int response_expires_is_same(const char *a, const char *b, size_t at,
                             size_t len, size_t expires)
{
    if (expires) {
        if (memcmp(a + at, b + at, expires - at) != 0) {
            return 0;
        }
        at = expires + RESPONSE_DATE;
    }
    return !memcmp(a + at, b + at, len - at);
}

int response_expires_is_later(int64_t a, int64_t b, int clocked, size_t expires)
{
    int64_t apart = a > b ? a - b : b - a;

    return !clocked || apart >= (expires ? 1 : 2);
}
