/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fd_channels: the channels of all seats, made and held by the parent over
 * restarts, so that a process of an old generation can send to whoever
 * serves the seat next. The parent never reads them. With them goes a
 * lifeline for each generation: the parent says on it that there is a next
 * generation; when it breaks without that word (no mode any more, listeners
 * closed for good), nobody comes after a child that stops.
 */
#ifndef CPUAFFINITY_FD_CHANNELS_H
#define CPUAFFINITY_FD_CHANNELS_H

#include "httpd.h"
#include "ap_listen.h"

#include "listen/fd_channel.h"

typedef struct fd_channels {
    int boxes; /* >= the present number of seats: seat k serves box k and
                  those that a restart left behind, k + seats, … */
    fd_channel *box;
    int lifeline; /* readable: a byte, or the end of it */
} fd_channels;

/* Takes our record out of httpd's list of listeners. First thing in every
 * pre_config. Parent. */
void fd_channels_pre_config(void);

/* Makes what is missing for @a seats; after sockets_open_logs. Parent.
 * @return OK or an HTTP_ error after logging */
int fd_channels_open_logs(server_rec *s, int seats);

/*
 * In check_config, before the MPM opens and counts its listeners. A restart
 * that turns the mode off leaves nobody who serves a seat, but old processes
 * still send: then our record is given to the MPM for a door (see
 * fd_channels_carrier).
 * @param seats processes_count()
 */
void fd_channels_check_config(server_rec *s, int seats);

/* In a child without the mode: the record that is there for a door through
 * which the mail is to be carried, or NULL. */
ap_listen_rec *fd_channels_carrier(void);

/* The mode is off and nothing is carried (in open_logs): children that stop
 * are told that nobody comes after them; what is in the channels all the same
 * ends with the last of them. Parent. */
void fd_channels_close(void);

/* Takes our record out of the child's list and closes the parent's end of
 * the lifeline in it. In child_init, before the MPM looks at the list. */
void fd_channels_child_init(void);

/* The channels, or NULL when fd_channels_open_logs did not run. Any thread. */
const fd_channels *fd_channels_get(void);

/*
 * Will there be a next generation to send to? Waits for the parent's word,
 * which comes as soon as it has read its configuration (or has closed its
 * listeners for good), three seconds at most. Only in a process that stops
 * gracefully; any thread.
 */
int fd_channels_has_successor(const fd_channels *m);

#endif
