/* SPDX-License-Identifier: Apache-2.0 */
#include "handoff/handoff.h"

#include <stdlib.h>
#include <string.h>
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
    if (p->kept) {
        p->drop_kept(p->kept);
    }
    free(p->bytes);
    if (p->fd >= 0) {
        close(p->fd);
    }
    handoff_init(p);
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
