/* SPDX-License-Identifier: Apache-2.0 */
/* request: no read past the input, and the verdicts of all prefixes fit
 * together; what is mine has the shape that was promised. */
#include "http/request.h"

#include "replay.h"

#include <stdlib.h>
#include <string.h>

#define CHECK(x)                                                               \
    do {                                                                       \
        if (!(x)) {                                                            \
            abort();                                                           \
        }                                                                      \
    } while (0)

/* The verdict on a copy that ends where it ends. */
static request_verdict look(const uint8_t *data, size_t size, request *req)
{
    char *copy = malloc(size ? size : 1);
    request_verdict v;

    memcpy(copy, data, size);
    v = request_recognise(copy, size, NULL, req);
    free(copy);
    return v;
}

static void check_slice(const request *req, request_slice s)
{
    CHECK(s.off + s.len <= req->consumed - 4);
}

static void check_mine(const uint8_t *data, size_t size, const request *req)
{
    unsigned char key[REQUEST_KEY];
    const char *head = (const char *)data;
    size_t n, base;
    unsigned id;

    CHECK(head != NULL);
    CHECK(req->consumed <= size && req->consumed <= REQUEST_HEAD);
    CHECK(!memcmp(head + req->consumed - 4, "\r\n\r\n", 4));
    CHECK(!memcmp(head, req->head_only ? "HEAD /" : "GET /", 5));
    CHECK(head[req->line.len] == '\r' && head[req->target.off] == '/');
    CHECK(req->path.off == req->target.off && req->path.len);
    CHECK(!memmem(head, req->path.off + req->path.len, "//", 2));
    CHECK(!memchr(head, 0, req->consumed));
    check_slice(req, req->target);
    for (id = 0; id < 64; id++) {
        if (request_has(req, id)) {
            CHECK(request_field_name(id));
            check_slice(req, req->header[id]);
        }
    }
    CHECK(__builtin_popcountll(req->present) <= req->fields);
    CHECK(!(req->twice & (~req->present | requestfield_once)));
    CHECK(req->minor == 0 || request_has(req, REQUEST_HOST));
    n = request_key(req, head, "x", 1, 1, ~(uint64_t)0 >> 4, key, &base);
    CHECK(n <= REQUEST_KEY && base <= REQUEST_KEY);
    CHECK(!n || (base && base == request_key_base(req, n)));
}

/* What a configuration may have declared. */
static void declare(void)
{
    static int done;

    if (!done) {
        done = 1;
        request_field_read("X-Read", 6);
        request_field_read("x_read!", 7);
        request_field_read("Via", 3);
        request_field_refuse("X-Refused", 9);
        request_field_read("^", 1);
    }
}

/* One more field that nothing reads changes nothing but the length. */
static void check_inert(const uint8_t *data, const request *req)
{
    static const char more[] = "X-Inert: 1\r\nx~: \r\n\r\n";
    const uint64_t vary[] = {0, ~UINT64_C(0) >> (64 - request_field_ids())};
    unsigned char before[REQUEST_KEY], after[REQUEST_KEY];
    char text[REQUEST_HEAD + sizeof(more)];
    size_t len = req->consumed - 2u, base, i, n;
    request with;

    memcpy(text, data, len);
    memcpy(text + len, more, sizeof(more) - 1);
    len += sizeof(more) - 1;
    if (len > REQUEST_HEAD || req->fields + 2 > REQUEST_FIELDS) {
        return;
    }
    CHECK(request_recognise(text, len, NULL, &with) == REQUEST_MINE);
    CHECK(with.present == req->present && with.twice == req->twice);
    CHECK(with.fields == req->fields + 2 && with.consumed == len);
    for (i = 0; i < 2; i++) {
        n = request_key(req, (const char *)data, "x", 1, 1, vary[i], before,
                        &base);
        CHECK(n == request_key(&with, text, "x", 1, 1, vary[i], after, &base));
        CHECK(!memcmp(before, after, n));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const request_limits limits[] = {{20, 2, 30}, {8190, 100, 8190}};
    request req, part;
    request_verdict whole, v;
    size_t i, end;

    if (size > REQUEST_HEAD + 100) {
        return 0;
    }
    declare();
    whole = look(data, size, &req);
    if (whole == REQUEST_MINE) {
        check_mine(data, size, &req);
        check_inert(data, &req);
    }
    if (whole == REQUEST_NOT_MINE) {
        CHECK(request_why_name(req.why));
        CHECK((size_t)req.culprit.off + req.culprit.len <= size);
    }
    end = whole == REQUEST_MINE ? req.consumed : size;
    /* all short prefixes, then some */
    for (i = 0; i < end; i += i < 150 ? 1 : 397) {
        v = look(data, i, &part);
        CHECK(v != REQUEST_MINE);
        CHECK(v == REQUEST_INCOMPLETE || whole == REQUEST_NOT_MINE);
    }
    /* limits only ever take away, and consistently */
    for (i = 0; i < 2; i++) {
        v = request_recognise((const char *)data, size, &limits[i], &part);
        CHECK(v == whole || v == REQUEST_NOT_MINE);
        if (v == REQUEST_MINE) {
            CHECK(part.consumed == req.consumed);
            CHECK(request_recognise((const char *)data, size / 2, &limits[i],
                                    &part)
                  != REQUEST_NOT_MINE);
        }
    }
    return 0;
}
