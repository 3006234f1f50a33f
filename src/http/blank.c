/* SPDX-License-Identifier: Apache-2.0 */
#include "http/blank.h"

size_t blank_skip(const char *bytes, size_t len, int most, int *over)
{
    size_t pos = 0;
    int lines = 0;

    while (pos < len && lines <= most) {
        size_t cr = bytes[pos] == '\r' && pos + 1 < len;

        if (bytes[pos + cr] != '\n') {
            break;
        }
        pos += cr + 1;
        lines++;
    }
    if (lines > most) {
        *over = 1;
    }
    return pos;
}
