/* SPDX-License-Identifier: Apache-2.0 */
#include "loop/transport.h"

#include <errno.h>
#include <sys/socket.h>

#include "tls/session.h"

ssize_t transport_recv(conn *c, void *buf, size_t most)
{
    return c->kept ? session_recv(c->kept, c->fd, buf, most)
                   : recv(c->fd, buf, most, MSG_DONTWAIT);
}

ssize_t transport_send(conn *c, const struct iovec *part, int parts, int flags)
{
    struct msghdr m = {.msg_iov = (struct iovec *)part,
                       .msg_iovlen = (size_t)parts};
    ssize_t n;

    if (c->kept) {
        return session_send(c->kept, c->fd, part, parts);
    }
    flags |= MSG_NOSIGNAL;
    do {
        n = parts == 1 ? send(c->fd, part->iov_base, part->iov_len, flags)
                       : sendmsg(c->fd, &m, flags);
    } while (n < 0 && errno == EINTR);
    return n;
}

int transport_flush(conn *c)
{
    return c->kept ? session_flush(c->kept, c->fd) : 0;
}

size_t transport_pending(const conn *c)
{
    return c->kept ? session_pending(c->kept) : 0;
}

int transport_has_ended(const conn *c)
{
    return c->kept && c->kept->ended;
}

int transport_has_more(const conn *c)
{
    return c->kept && session_has_more(c->kept);
}
