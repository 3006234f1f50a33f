/* SPDX-License-Identifier: Apache-2.0 */
/* chunks: any bytes for a captured body. What is taken for one has no proper
 * prefix that is, and nothing behind it; its chunks, one after the other, are
 * as long as it says. And an encoded answer never says more than its body. */
#include "http/chunks.h"
#include "http/response.h"

#include "replay.h"

#include <stdlib.h>
#include <string.h>

#define CHECK(x)                                                               \
    do {                                                                       \
        if (!(x)) {                                                            \
            abort();                                                           \
        }                                                                      \
    } while (0)

#define HEAD                                                                   \
    "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"               \
    "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint64_t digest[2] = {1, 2};
    char copy[RESPONSE_HEAD];
    const char *error;
    char *body = malloc(size + 1);
    int64_t content, sum = 0;
    size_t at = 0;
    response a;

    memcpy(body, data, size);
    content = chunks_content(body, size);
    CHECK(!response_learn(&a, HEAD, strlen(HEAD), -1, RESPONSE_ENCODED, copy,
                          &error));
    CHECK((response_set_body(&a, body, size, digest) == 0) == (content > 0));
    if (content >= 0) {
        CHECK((size_t)content + 5 <= size);
        CHECK(chunks_content(body, size - 1) < 0);
        body[size] = '\0';
        CHECK(chunks_content(body, size + 1) < 0);
        for (;;) {
            char *end;
            long n = strtol(body + at, &end, 16);

            sum += n;
            at = (size_t)(end - body) + 2 + (size_t)n + 2;
            if (!n) {
                break;
            }
        }
        CHECK(at == size && sum == content);
    }
    free(body);
    return 0;
}
