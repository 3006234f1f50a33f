/* SPDX-License-Identifier: Apache-2.0 */
/* peer_share: any bytes for a message of another process; what is taken lies
 * within them and is written as the same bytes again.
 * links: src/learn/peer_share.c src/handoff/handoff.c
 */
#include "learn/peer_share.h"

#include "http/response_304.h"
#include "replay.h"

#include <stdlib.h>
#include <string.h>

#define CHECK(x)                                                               \
    do {                                                                       \
        if (!(x)) {                                                            \
            abort();                                                           \
        }                                                                      \
    } while (0)

#define NOW 1000000

static void check_head(const lesson *l, const char *head)
{
    size_t len =
        l->kind == LESSON_304 ? l->unchanged.head_len : l->answer.head_len;

    CHECK((l->kind == LESSON_304 ? l->unchanged.head : l->answer.head) == head);
    CHECK(len <= RESPONSE_HEAD && !memcmp(head + len - 4, "\r\n\r\n", 4));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    const char *key = bytes + PEER_SHARE_FIXED;
    struct iovec parts[PEER_SHARE_PARTS];
    char head[RESPONSE_HEAD], again[RESPONSE_HEAD], fixed[PEER_SHARE_FIXED];
    lesson l, other;
    size_t len = 0, i;
    char *copy;

    if (peer_share_parse(bytes, size, NOW, &l, head)) {
        return 0;
    }
    CHECK(l.kind == LESSON_ANSWER || l.kind == LESSON_WIDEN
          || l.kind == LESSON_304);
    CHECK((const char *)l.key == key && l.path == key + l.key_len);
    CHECK(l.key_base == l.key_len
          || (l.key_base < l.key_len
              && l.key[l.key_base + REQUEST_KEY_PART] == '?'));
    CHECK(l.path + strlen(l.path) < bytes + size && l.path[0] == '/');
    check_head(&l, head);
    peer_share_write(&l, fixed, parts);
    for (i = 0; i < PEER_SHARE_PARTS; i++) {
        len += parts[i].iov_len;
    }
    CHECK(len <= size);
    copy = malloc(len);
    len = 0;
    for (i = 0; i < PEER_SHARE_PARTS; i++) {
        memcpy(copy + len, parts[i].iov_base, parts[i].iov_len);
        len += parts[i].iov_len;
    }
    CHECK(!peer_share_parse(copy, len, NOW, &other, again));
    if (l.kind == LESSON_304) {
        CHECK(response_304_is_same(&l.unchanged, &other.unchanged));
    }
    else {
        CHECK(response_is_same(&l.answer, &other.answer));
    }
    CHECK(l.answer.no_range == other.answer.no_range
          && l.answer.etag == other.answer.etag
          && l.answer.length_at == other.answer.length_at);
    CHECK(watched_is_valid(l.watch, l.watch_len)
          && other.watch_len == l.watch_len
          && !memcmp(l.watch, other.watch, l.watch_len));
    CHECK(!memcmp(&l.st, &other.st, sizeof(l.st)) && l.vary == other.vary
          && l.mask == other.mask && l.when == other.when);
    CHECK(l.shared == other.shared && l.key_base == other.key_base);
    free(copy);
    return 0;
}
