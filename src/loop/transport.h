/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport: how a connection's bytes come and go, plain or with TLS; whoever
 * serves it need not know. Loop thread only; no httpd header is needed.
 */
#ifndef CPUAFFINITY_TRANSPORT_H
#define CPUAFFINITY_TRANSPORT_H

#include <sys/types.h>
#include <sys/uio.h>

#include "loop/conn.h"
#include "tls/session.h"

/* Bytes that must have room beyond those asked for: TLS gives whole records. */
#define TRANSPORT_MORE SESSION_MOST

/*
 * As recv() without waiting.
 * @param most bytes to be received; @a buf has room for TRANSPORT_MORE more
 * @return bytes; 0: the end (of TLS also an error: httpd's to see); -1 with
 *         errno
 */
ssize_t transport_recv(conn *c, void *buf, size_t most);

/*
 * As sendmsg() without waiting. With TLS, what was taken may not have left yet:
 * nothing is over before transport_flush() has said so.
 * @param flags MSG_MORE or 0
 */
ssize_t transport_send(conn *c, const struct iovec *part, int parts, int flags);

/* Sends what was taken. @return 0: all has left; -1 with errno */
int transport_flush(conn *c);

/* Bytes that were taken and have not left. */
size_t transport_pending(const conn *c);

/* Can no more be read, although the last read gave something? */
int transport_has_ended(const conn *c);

/* Is there more to be read although the socket may have nothing? */
int transport_has_more(const conn *c);

#endif
