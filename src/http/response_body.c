/* SPDX-License-Identifier: Apache-2.0 */
#include "http/response.h"

#include "http/chunks.h"

#include <string.h>

unsigned response_flags(const response *a)
{
    return (a->plain ? RESPONSE_PLAIN : 0) | (a->no_304 ? RESPONSE_FILTERED : 0)
           | (a->clocked ? RESPONSE_CLOCKED : 0)
           | (a->message               ? RESPONSE_MESSAGE
              : response_is_encoded(a) ? RESPONSE_ENCODED
                                       : 0);
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

/* A head without the line that tells of the body: what is before, behind. */
static int is_same_part(const response *a, const response *b, size_t a_from,
                        size_t a_to, size_t b_from, size_t b_to)
{
    return a_to - a_from == b_to - b_from
           && !memcmp(a->head + a_from, b->head + b_from, a_to - a_from);
}

int response_is_alike(const response *a, const response *b)
{
    size_t a_after = (size_t)a->length_line + a->length_line_len;
    size_t b_after = (size_t)b->length_line + b->length_line_len;
    const size_t date = (size_t)a->date_at + RESPONSE_DATE;

    if (!response_is_encoded(a) || a->framing != b->framing
        || a->date_at != b->date_at || a->status != b->status
        || memcmp(&a->base, &b->base, sizeof(a->base)) != 0) {
        return 0;
    }
    if (!a->length_line || !b->length_line) {
        return is_same_part(a, b, date, a->head_len, date, b->head_len);
    }
    return is_same_part(a, b, date, a->length_line, date, b->length_line)
           && is_same_part(a, b, a_after, a->head_len, b_after, b->head_len);
}
