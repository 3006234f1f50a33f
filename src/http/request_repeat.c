/* SPDX-License-Identifier: Apache-2.0 */
#include "http/request_repeat.h"

#include "http/request_field.h"

#include <string.h>

/* A number for a name up to the colon, the same in any case. Two names that
 * share one only cost a look of httpd's. */
static uint32_t number(const char *name)
{
    uint32_t h = 2166136261u;

    for (; *name != ':'; name++) {
        h = (h ^ ((unsigned char)*name | 0x20)) * 16777619u;
    }
    return h;
}

int request_repeat_has(const char *p, const char *end)
{
    uint32_t seen[REQUEST_FIELDS], n;
    unsigned count = 0, i;

    while (p < end && count < REQUEST_FIELDS) {
        n = number(p);
        for (i = 0; i < count; i++) {
            if (seen[i] == n) {
                return 1;
            }
        }
        seen[count++] = n;
        p = (const char *)memchr(p, '\n', (size_t)(end - p)) + 1;
    }
    return 0;
}
