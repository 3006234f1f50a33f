/* SPDX-License-Identifier: Apache-2.0 */
/* All inputs of up to nine bytes of CR, LF and another. */
#include "http/blank.h"

#include <string.h>

#include "t/unit/tap.h"

/* The same, said differently. */
static size_t expected(const char *s, size_t len, int most, int *over)
{
    size_t pos = 0;
    int n;

    for (n = 0; n <= most; n++) {
        if (len - pos >= 1 && s[pos] == '\n') {
            pos += 1;
        }
        else if (len - pos >= 2 && !memcmp(s + pos, "\r\n", 2)) {
            pos += 2;
        }
        else {
            return pos;
        }
    }
    *over = 1;
    return pos;
}

int main(void)
{
    char s[9];
    size_t len, i;
    unsigned code, rest, all;
    int most, wrong = 0;

    for (len = 0, all = 1; len <= sizeof(s); len++, all *= 3) {
        for (code = 0; code < all; code++) {
            for (i = 0, rest = code; i < len; i++, rest /= 3) {
                s[i] = "\r\na"[rest % 3];
            }
            for (most = 0; most < 4; most++) {
                int a = 0, b = 0;

                wrong +=
                    blank_skip(s, len, most, &a) != expected(s, len, most, &b)
                    || a != b;
            }
        }
    }
    is_int(wrong, 0, "blank lines are skipped and counted");
    return done();
}
