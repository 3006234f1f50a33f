#include "handoff/handoff.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void handoff_init(handoff *p)
{
    memset(p, 0, sizeof(*p));
    p->fd = -1;
}

void handoff_drop(handoff *p)
{
    if (p->note && p->drop_note) {
        p->drop_note(p->note);
    }
    free(p->bytes);
    if (p->fd >= 0) {
        close(p->fd);
    }
    handoff_init(p);
}

socklen_t addr_len(const addr *a)
{
    switch (a->any.sa_family) {
    case AF_INET:
        return sizeof(a->in);
    case AF_INET6:
        return sizeof(a->in6);
    default:
        return 0;
    }
}

int handoff_addr_is_known(const addr *a)
{
    switch (a->any.sa_family) {
    case AF_INET:
        return a->in.sin_addr.s_addr != htonl(INADDR_ANY);
    case AF_INET6:
        return !IN6_IS_ADDR_UNSPECIFIED(&a->in6.sin6_addr);
    default:
        return 0;
    }
}

static int ask(int fd, addr *a,
               int (*name)(int, struct sockaddr *, socklen_t *))
{
    socklen_t len = sizeof(*a);

    if (addr_len(a)) {
        return 0;
    }
    return name(fd, &a->any, &len);
}

int handoff_addresses(handoff *p)
{
    if (ask(p->fd, &p->remote, getpeername)
        || ask(p->fd, &p->local, getsockname)) {
        return -1;
    }
    return 0;
}

int64_t clock_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}
