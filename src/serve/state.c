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
                 int keepalives, uint64_t vary, unsigned char key[REQUEST_KEY])
{
    unsigned char
        where[sizeof(in_port_t) + sizeof(struct in6_addr) + sizeof(uint32_t)];
    size_t len = sizeof(in_port_t);

    /* Virtual hosts are told apart by it: without, nothing is known. */
    if (!handoff_addr_is_known(local)) {
        return 0;
    }
    /* The port stands at the same place in both families. */
    memcpy(where, &local->in.sin_port, len);
    if (local->any.sa_family == AF_INET6) {
        memcpy(where + len, &local->in6.sin6_addr, 16);
        len += 16;
        /* Link-local addresses are one for each interface. */
        memcpy(where + len, &local->in6.sin6_scope_id, sizeof(uint32_t));
        len += sizeof(uint32_t);
    }
    else {
        memcpy(where + len, &local->in.sin_addr, 4);
        len += 4;
    }
    return request_key(req, head, where, len, keepalives == 0, vary, key);
}

void state_tell_time(serve_state *st)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME_COARSE, &t);
    if (t.tv_sec != st->clock.seconds) {
        response_clock_set(&st->clock, t.tv_sec);
    }
}
