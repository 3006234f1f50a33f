/* SPDX-License-Identifier: Apache-2.0 */
/* response_304: any captured head, any request; what comes out is a 304 that
 * fits its room. The input: 4 bytes of numbers, a head, a NUL, a request. */
#include "http/response_304.h"

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

static void check(const response_304 *u, const request *req, const char *ask,
                  const response_connection *conn)
{
    response a = {.head = "",
                  .plain = 1,
                  .base = u->base,
                  .unchanged = u,
                  .head_len = RESPONSE_HEAD};
    char *buf = malloc(u->head_len + RESPONSE_LINES);
    response_clock clock = {.now = 0};
    response_lines says;
    size_t len;

    response_clock_set(&clock, 784111777);
    response_lines_say(req, conn, u->announce != 0, 1, &says);
    len = response_304_make(u, &clock, &says, buf);
    CHECK(len <= (size_t)u->head_len + RESPONSE_LINES);
    CHECK(!memcmp(buf, "HTTP/1.1 304 ", 13));
    CHECK(!memcmp(buf + len - 4, "\r\n\r\n", 4));
    CHECK(!req->close || !says.keepalive);
    free(buf);
    if (response_may_have(&a, u)
        && response_base_is_met(&u->base, req, ask, clock.seconds)) {
        char reply[RESPONSE_HEAD + RESPONSE_EXTRA];
        response_reply r;

        CHECK(!response_make(&a, req, ask, &clock, conn, reply, sizeof(reply),
                             &r));
        CHECK(r.status == 304 && r.head_len == len && r.body_len == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *head = (const char *)data + 4, *ask, *error;
    char *copy, *other;
    response_304 u, b;
    request req;
    size_t head_len, ask_len;

    if (size < 5 || !(ask = memchr(head, 0, size - 4))) {
        return 0;
    }
    head_len = (size_t)(ask++ - head);
    ask_len = size - 4 - head_len - 1;
    copy = malloc(head_len + 1);
    other = malloc(head_len + 1);
    if (!response_304_learn(&u, head, head_len, data[1] >> 2 & 1, copy,
                            &error)) {
        u.base = (response_base){.modified = 784108800,
                                 .known = 1,
                                 .tag_len = 7,
                                 .tag = "\"400-5\""};
        u.until = 1;
        CHECK(u.head_len <= head_len && u.announce < u.head_len);
        response_304_copy(&b, &u, other);
        CHECK(response_304_is_same(&u, &b));
        if (request_recognise(ask, ask_len, NULL, &req) == REQUEST_MINE) {
            response_connection c = {data[0], data[1] & 1, data[2],
                                     data[3] * 500000, data[1] >> 1 & 1};

            check(&b, &req, ask, &c);
            response_304_is_exact(&b, &req, &c, head, head_len);
        }
    }
    free(copy);
    free(other);
    return 0;
}
