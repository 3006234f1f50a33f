/* SPDX-License-Identifier: Apache-2.0 */
/* response: any captured head, any request; what comes out is a head whose
 * lengths fit the file. The input: 8 bytes of numbers, a head, a NUL, a
 * request. */
#include "http/response.h"

#include "replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(x)                                                               \
    do {                                                                       \
        if (!(x)) {                                                            \
            abort();                                                           \
        }                                                                      \
    } while (0)

static void check_reply(const response *a, const request *req, const char *buf,
                        const response_reply *r)
{
    char want[128];

    CHECK(r->head_len <= (size_t)a->head_len + RESPONSE_EXTRA);
    CHECK(!memcmp(buf + r->head_len - 4, "\r\n\r\n", 4));
    CHECK(!memcmp(buf, "HTTP/1.1 ", 9));
    CHECK(atoi(buf + 9) == r->status);
    CHECK(r->body_off >= 0 && r->body_len >= 0);
    CHECK(r->body_off + r->body_len <= a->size);
    CHECK(!req->close || !r->keepalive);
    if (r->status == 200) {
        CHECK(r->body_off == 0);
        CHECK(r->body_len == (req->head_only ? 0 : a->size));
    }
    else if (r->status == 206) {
        CHECK(req->head_only || r->body_len > 0);
        if (!req->head_only) {
            snprintf(want, sizeof(want), ": bytes %lld-%lld/%lld\r\n",
                     (long long)r->body_off,
                     (long long)(r->body_off + r->body_len - 1),
                     (long long)a->size);
            CHECK(memmem(buf, r->head_len, want, strlen(want)));
        }
    }
    else {
        CHECK(r->status == 304 && r->body_len == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *head = (const char *)data + 8, *ask, *error;
    char *copy, *other, buf[RESPONSE_HEAD + RESPONSE_EXTRA];
    response a, b;
    request req;
    size_t head_len, ask_len;

    if (size < 9 || !(ask = memchr(head, 0, size - 8))) {
        return 0;
    }
    head_len = (size_t)(ask++ - head);
    ask_len = size - 8 - head_len - 1;
    copy = malloc(head_len + 1);
    other = malloc(head_len + 1);
    if (response_learn(&a, head, head_len, data[0] | (data[1] & 15) << 8,
                       data[2] & RESPONSE_FLAGS, copy, &error)
        == 0) {
        CHECK(a.head_len <= head_len && a.slot <= a.head_len);
        response_copy(&b, &a, other);
        CHECK(response_is_same(&a, &b));
        if (request_recognise(ask, ask_len, NULL, &req) == REQUEST_MINE) {
            response_connection c = {data[3], data[4] & 1, data[5],
                                     data[6] * 500000, data[4] >> 1 & 1};
            response_clock clock;
            response_reply r;

            response_clock_set(&clock, 784111777 + data[7]);
            if (!response_make(&b, &req, ask, &clock, &c, buf,
                               (size_t)b.head_len + RESPONSE_EXTRA, &r)) {
                check_reply(&b, &req, buf, &r);
            }
            CHECK(
                response_make(&b, &req, ask, &clock, &c, buf, b.head_len, &r));
            response_is_exact(&b, &req, ask, &c, head, head_len);
        }
    }
    free(copy);
    free(other);
    return 0;
}
