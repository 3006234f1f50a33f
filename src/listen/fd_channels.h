/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fd_channels: the channels of all seats, made and held by the parent over
 * restarts, so that a process of an old generation can send to whoever
 * serves the seat next. The parent never reads them. Each generation also has
 * a lifeline, a socket pair: the parent sends a byte on it when there is a
 * next generation; if it closes without one (mode turned off, listeners closed
 * for good), a child that stops has no successor.
 */
#ifndef CPUAFFINITY_FD_CHANNELS_H
#define CPUAFFINITY_FD_CHANNELS_H

#include "httpd.h"
#include "ap_listen.h"

#include "listen/fd_channel.h"

typedef struct fd_channels {
    int count; /* channels, >= the present number of seats: seat k serves
                  channel k and those that a restart left over, k + seats, … */
    fd_channel *channel;
    int lifeline; /* readable: a byte, or end of file */
} fd_channels;

/* Takes our record out of httpd's list of listeners. First thing in every
 * pre_config. Parent. */
void fd_channels_pre_config(void);

/* Makes what is missing for @a seats; after sockets_open_logs. Parent.
 * @return OK or an HTTP_ error after logging */
int fd_channels_open_logs(server_rec *s, int seats);

/*
 * In check_config, before the MPM opens and counts its listeners. After a
 * restart that turns the mode off nobody serves a seat, but old processes
 * still send: our record is then given to the MPM for a door (see
 * fd_channels_carrier). Parent.
 * @param seats processes_count()
 */
void fd_channels_check_config(server_rec *s, int seats);

/* In a child without the mode: the record for a door through which
 * connections from the channels are passed to httpd, or NULL. */
ap_listen_rec *fd_channels_carrier(void);

/* In open_logs, with the mode off and no carrier: tells children that stop
 * that they have no successor; connections still in the channels are closed
 * when the last of those children ends. Parent. */
void fd_channels_close(void);

/* Takes our record out of the child's list and closes the parent's end of
 * the lifeline in it. In child_init, before the MPM looks at the list. */
void fd_channels_child_init(void);

/* The channels, or NULL when fd_channels_open_logs did not run. Any thread. */
const fd_channels *fd_channels_get(void);

/*
 * Whether there will be a next generation to send to. Waits, three seconds at
 * most, for the parent's answer, which comes as soon as it has read its
 * configuration (or has closed its listeners for good); a restart that takes
 * longer counts as one without. Only in a process that stops gracefully; any
 * thread.
 */
int fd_channels_has_successor(const fd_channels *m);

/* Whether a process that stops does so as the parent has begun another
 * generation, which may be without the mode. Any thread. */
int fd_channels_is_restart(void);

#endif
