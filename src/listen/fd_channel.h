/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fd_channel: hands a connection to another process: one SOCK_SEQPACKET pair
 * per seat, a message per connection, its descriptor beside it. Whoever
 * serves the seat reads; any process of the server writes, so nothing in a
 * message is believed: what does not fit is dropped and its descriptors are
 * closed. No httpd header is needed.
 */
#ifndef CPUAFFINITY_FD_CHANNEL_H
#define CPUAFFINITY_FD_CHANNEL_H

#include "handoff/handoff.h"

typedef struct fd_channel {
    int to;   /* for writers; -1: there is none */
    int from; /* for the seat */
} fd_channel;

/* Makes one: non-blocking, close-on-exec, with as large a buffer as the
 * system gives. @return 0, or -1 with errno */
int fd_channel_make(fd_channel *m);

/* Closes both ends. */
void fd_channel_close(fd_channel *m);

/*
 * Sends a handoff; the note stays behind and is dropped. Never blocks; any
 * thread.
 * @return 0 and the handoff is empty; or -1 with errno and it is still the
 *         caller's (EAGAIN, ETOOMANYREFS: full; EMSGSIZE: too many bytes)
 */
int fd_channel_send(const fd_channel *m, handoff *p);

/*
 * Receives one. The addresses are asked from the kernel; the client of a
 * handoff that is returned may be gone all the same.
 * @return 1 with a handoff that is the caller's; 0: nothing there; -1: a
 *         message was refused (errno EPROTO), or reading failed (its errno)
 */
int fd_channel_receive(const fd_channel *m, handoff *p);

#endif
