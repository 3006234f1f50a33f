/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/state.h"

#include <string.h>
#include <time.h>

static serve_state *published;

serve_state *state_get(void)
{
    return __atomic_load_n(&published, __ATOMIC_ACQUIRE);
}

void state_publish(serve_state *st)
{
    __atomic_store_n(&published, st, __ATOMIC_RELEASE);
}

size_t state_key(const request *req, const char *head, const addr *local,
                 const session *tls, int keepalives, uint64_t vary,
                 unsigned char key[REQUEST_KEY], size_t *base)
{
    unsigned char where[ADDR_BYTES + 1 + SESSION_NAME];
    size_t len;

    *base = 0;
    /* Virtual hosts are told apart by it: without, nothing is known. */
    if (!addr_is_known(local)) {
        return 0;
    }
    len = addr_bytes(local, where);
    if (tls) {
        where[len++] = tls->name_len > 0;
        memcpy(where + len, tls->name, tls->name_len);
        len += tls->name_len;
    }
    return request_key(req, head, where, len, keepalives == 0, vary, key, base);
}

void state_tell_time(serve_state *st, int64_t now)
{
    struct timespec t;

    st->clock.now = now;
    clock_gettime(CLOCK_REALTIME_COARSE, &t);
    if (t.tv_sec != st->clock.seconds) {
        response_clock_set(&st->clock, t.tv_sec);
    }
}
