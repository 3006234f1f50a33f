/* SPDX-License-Identifier: Apache-2.0 */
#include "http/response.h"

#include "http/chunks.h"

#include <string.h>

unsigned response_flags(const response *a)
{
    return (a->plain ? RESPONSE_PLAIN : 0) | (a->no_304 ? RESPONSE_FILTERED : 0)
           | (a->clocked ? RESPONSE_CLOCKED : 0)
           | (response_is_encoded(a) ? RESPONSE_ENCODED : 0);
}

int response_set_body(response *a, const char *body, size_t len,
                      const uint64_t digest[2])
{
    int64_t content = (int64_t)len;

    if (!response_is_encoded(a)
        || (a->framing == RESPONSE_FRAMING_LENGTH && content != a->size)) {
        return -1;
    }
    if (a->framing == RESPONSE_FRAMING_CHUNKED) {
        content = chunks_content(body, len);
    }
    if (content <= 0) {
        return -1;
    }
    a->size = (int64_t)len;
    a->content = content;
    memcpy(a->digest, digest, sizeof(a->digest));
    return 0;
}
