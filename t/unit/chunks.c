/* SPDX-License-Identifier: Apache-2.0 */
/* chunks: bodies as httpd's CHUNK filter writes them, and all others. */
#include "http/chunks.h"

#include "tap.h"

#include <string.h>

int main(void)
{
    static const struct {
        const char *body;
        int64_t content;
    } t[] = {
        {"5\r\nhello\r\n0\r\n\r\n", 5},
        {"1\r\na\r\nb\r\n0123456789a\r\n0\r\n\r\n", 12},
        {"2\r\n\r\n\r\n0\r\n\r\n", 2},
        {"0\r\n\r\n", 0},
        {"", -1},
        {"0\r\n", -1},
        {"0\r\n\r\n\r\n", -1},
        {"0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", -1},
        {"00\r\n\r\n", -1},
        {"05\r\nhello\r\n0\r\n\r\n", -1},
        {"5\r\nhello\r\n", -1},
        {"5\r\nhello0\r\n\r\n", -1},
        {"4\r\nhello\r\n0\r\n\r\n", -1},
        {"6\r\nhello\r\n0\r\n\r\n", -1},
        {"5 \r\nhello\r\n0\r\n\r\n", -1},
        {"5;a=b\r\nhello\r\n0\r\n\r\n", -1},
        {"A\r\n0123456789\r\n0\r\n\r\n", -1},
        {"5\nhello\r\n0\r\n\r\n", -1},
        {"0\r\nX: y\r\n\r\n", -1},
        {"-1\r\na\r\n0\r\n\r\n", -1},
        {"fffffffff\r\na\r\n0\r\n\r\n", -1},
        {"ffffffff\r\na\r\n0\r\n\r\n", -1},
        {"hello", -1},
    };
    const char *whole = t[1].body;
    size_t i;

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        is_int(chunks_content(t[i].body, strlen(t[i].body)), t[i].content,
               t[i].content < 0 ? "not httpd's" : "httpd's");
    }
    for (i = 0; i < strlen(whole); i++) {
        if (chunks_content(whole, i) != -1) {
            break;
        }
    }
    is_int((long)i, (long)strlen(whole), "a part is none");
    return done();
}
