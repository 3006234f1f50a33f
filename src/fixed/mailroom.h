/*
 * mailroom: the mailboxes of all seats, made and held by the parent over
 * restarts, so that a process of an old generation can send to whoever
 * serves the seat next. The parent never reads them. With them goes the
 * lifeline: it breaks when the parent closes its listeners for good, which
 * tells a stopping child that nobody will come after it.
 */
#ifndef CPUAFFINITY_MAILROOM_H
#define CPUAFFINITY_MAILROOM_H

#include "httpd.h"

#include "fixed/mailbox.h"

typedef struct mailroom {
    int boxes; /* >= the present number of seats: seat k serves box k and
                  those that a restart left behind, k + seats, … */
    mailbox *box;
    int lifeline; /* readable (end of file) when there is no next generation */
} mailroom;

/* Takes our record out of httpd's list of listeners. First thing in every
 * pre_config. Parent. */
void mailroom_pre_config(void);

/* Makes what is missing for @a seats; after sockets_open_logs. Parent.
 * @return OK or an HTTP_ error after logging */
int mailroom_open_logs(server_rec *s, int seats);

/* Takes our record out of the child's list and closes the parent's end of
 * the lifeline in it. In child_init, before the MPM looks at the list. */
void mailroom_child_init(void);

/* The mailroom, or NULL when mailroom_open_logs did not run. Any thread. */
const mailroom *mailroom_get(void);

/* Will there be a next generation to send to? Any thread. */
int mailroom_successor(const mailroom *m);

#endif
