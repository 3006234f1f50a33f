/* SPDX-License-Identifier: Apache-2.0 */
#include "listen/fd_channel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Changes with the message layout: processes of an older build of the module
 * may still drain while newer ones read. */
#define MAGIC 0x63707531u
/* The kernel discards any more descriptors than this in one message. */
#define MANY 4

typedef struct header {
    uint32_t magic;
    uint32_t len;
    uint32_t keepalives;
    uint32_t idle;
    int64_t deadline;
} header;

typedef union control {
    struct cmsghdr align;
    char room[CMSG_SPACE(MANY * sizeof(int))];
} control;

int fd_channel_make(fd_channel *m)
{
    int large = 4 << 20;
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
                   pair)) {
        return -1;
    }
    /* Unread messages are charged to the writer's end. */
    if (setsockopt(pair[0], SOL_SOCKET, SO_SNDBUFFORCE, &large,
                   sizeof(large))) {
        setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &large, sizeof(large));
    }
    m->to = pair[0];
    m->from = pair[1];
    return 0;
}

void fd_channel_close(fd_channel *m)
{
    if (m->to >= 0) {
        close(m->to);
        close(m->from);
    }
    m->to = m->from = -1;
}

int fd_channel_send(const fd_channel *m, handoff *p)
{
    header h = {MAGIC, (uint32_t)p->len, p->keepalives, p->idle, p->deadline};
    struct iovec part[2] = {{&h, sizeof(h)}, {p->bytes, p->len}};
    control room;
    struct msghdr msg = {.msg_iov = part,
                         .msg_iovlen = p->len ? 2 : 1,
                         .msg_control = &room,
                         .msg_controllen = CMSG_SPACE(sizeof(int))};
    struct cmsghdr *c;
    ssize_t n;

    if (p->len > HANDOFF_BYTES) {
        errno = EMSGSIZE;
        return -1;
    }
    memset(&room, 0, sizeof(room));
    c = CMSG_FIRSTHDR(&msg);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &p->fd, sizeof(int));
    do {
        n = sendmsg(m->to, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
    } while (n < 0 && errno == EINTR);
    if (n < 0) {
        return -1;
    }
    handoff_drop(p);
    return 0;
}

/* Takes the descriptors out of a message and closes all but the first.
 * @return how many there were */
static int descriptors(struct msghdr *msg, int *first)
{
    struct cmsghdr *c;
    int found = 0;

    *first = -1;
    for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
        size_t n, i;

        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) {
            continue;
        }
        n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (i = 0; i < n; i++) {
            int fd;

            memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
            if (!found++) {
                *first = fd;
            }
            else {
                close(fd);
            }
        }
    }
    return found;
}

/* Whether it is a connected TCP socket; if so, fills in its addresses. */
static int is_client(handoff *p)
{
    int type = 0, listening = 0;
    socklen_t len = sizeof(type);

    if (getsockopt(p->fd, SOL_SOCKET, SO_TYPE, &type, &len)
        || type != SOCK_STREAM) {
        return 0;
    }
    len = sizeof(listening);
    if (getsockopt(p->fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &len)
        || listening) {
        return 0;
    }
    return !handoff_addresses(p) && addr_len(&p->remote)
           && p->remote.any.sa_family == p->local.any.sa_family;
}

/* Whether the numbers make sense: any child can write to the channel. */
static int in_range(const header *h, size_t len)
{
    return h->magic == MAGIC && h->len == len && !(h->idle && h->len)
           && h->keepalives < INT32_MAX && h->deadline >= 0
           && h->deadline < INT64_MAX / 2;
}

static int refuse(handoff *p)
{
    handoff_drop(p);
    errno = EPROTO;
    return -1;
}

int fd_channel_receive(const fd_channel *m, handoff *p)
{
    /* On the stack: one thread per process reads, and at a shallow depth. */
    char bytes[HANDOFF_BYTES];
    header h;
    struct iovec part[2] = {{&h, sizeof(h)}, {bytes, sizeof(bytes)}};
    control room;
    struct msghdr msg = {.msg_iov = part,
                         .msg_iovlen = 2,
                         .msg_control = &room,
                         .msg_controllen = sizeof(room)};
    ssize_t n;
    int fds;

    handoff_init(p);
    do {
        n = recvmsg(m->from, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    if (n < 0) {
        return errno == EAGAIN ? 0 : -1;
    }
    fds = descriptors(&msg, &p->fd);
    if (n == 0 && fds == 0) {
        errno = EPIPE;
        return -1;
    }
    if ((msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) || fds != 1
        || n < (ssize_t)sizeof(h) || !in_range(&h, (size_t)n - sizeof(h))
        || !is_client(p)) {
        return refuse(p);
    }
    if (h.len) {
        p->bytes = malloc(h.len);
        if (!p->bytes) {
            return refuse(p);
        }
        memcpy(p->bytes, bytes, h.len);
        p->len = h.len;
    }
    p->keepalives = h.keepalives;
    p->idle = h.idle != 0;
    p->deadline = h.deadline;
    p->moved = 1;
    return 1;
}
