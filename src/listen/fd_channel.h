/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fd_channel: hands a connection to another process: one SOCK_SEQPACKET pair
 * per seat, one message per connection, carrying its descriptor. Whoever
 * serves the seat reads; any process of the server can write, so nothing in a
 * message is trusted: a message that makes no sense is dropped and its
 * descriptors are closed. No httpd header is needed.
 */
#ifndef CPUAFFINITY_FD_CHANNEL_H
#define CPUAFFINITY_FD_CHANNEL_H

#include "handoff/handoff.h"

typedef struct fd_channel {
    int to;   /* for writers; -1: there is none */
    int from; /* for the seat */
} fd_channel;

/* Makes a channel: non-blocking, close-on-exec, with as large a buffer as the
 * system grants. @return 0, or -1 with errno */
int fd_channel_make(fd_channel *m);

/* Closes both ends. */
void fd_channel_close(fd_channel *m);

/*
 * Sends a handoff; its note is not sent but dropped. Never blocks; any thread.
 * @return 0 and the handoff is empty; or -1 with errno and it is still the
 *         caller's (EAGAIN, ETOOMANYREFS: full; EMSGSIZE: too many bytes)
 */
int fd_channel_send(const fd_channel *m, handoff *p);

/*
 * Receives a handoff. Its addresses come from the kernel; its client may
 * still be gone.
 * @return 1 with a handoff that is the caller's; 0: nothing there; -1: a
 *         message was refused (errno EPROTO), or reading failed (its errno)
 */
int fd_channel_receive(const fd_channel *m, handoff *p);

#endif
