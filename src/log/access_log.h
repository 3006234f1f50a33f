/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access_log: the access-log lines of answers that the loop has given, written
 * by httpd's own log hooks from a request_rec, on a thread of its own
 * ("httpd/log"): a full pipe or a slow disk must not stop the loop. Where no
 * log is configured, none of this runs. All functions but access_log_start and
 * access_log_stop are for the loop's thread.
 */
#ifndef CPUAFFINITY_ACCESS_LOG_H
#define CPUAFFINITY_ACCESS_LOG_H

#include "httpd.h"

#include "log/access_log_record.h"

/* At most this many lines wait; beyond that, answers are declined and httpd
 * gives them. */
#define ACCESS_LOG_ROOM 8192

/* Are lines to be written at all? Any thread, from child_init on. When 0,
 * none of the others has to be called. */
int access_log_is_needed(void);

/* Starts the thread, before the loop's first turn. In child_init's thread or
 * the loop's. @return APR_SUCCESS, or why not (logged): access_log_reserve()
 * then always says -1. */
apr_status_t access_log_start(server_rec *s);

/* Before an answer is begun: reserves room for its line. @return 0, or -1:
 * there is none, let httpd answer */
int access_log_reserve(void);

/* Writes the line of a reserved answer, once it has been sent or has failed.
 * Uses the reservation up. */
void access_log_write(const access_log_record *record);

/* Gives a reservation up: no byte was sent. */
void access_log_cancel(void);

/* Writes what waits and ends the thread; when the loop ends. Idempotent. */
void access_log_stop(void);

#endif
