/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access_log_line: makes a request_rec of an answer that the loop has given and
 * shows it to httpd's log hooks. One thread. Internal to access_log.
 */
#ifndef CPUAFFINITY_ACCESS_LOG_LINE_H
#define CPUAFFINITY_ACCESS_LOG_LINE_H

#include "log/access_log_record.h"

/* What outlives a line: the connection that all lines share. */
typedef struct accesslogline accesslogline;

/* From @a p. @return NULL after logging */
accesslogline *access_log_line_make(apr_pool_t *p, server_rec *s);

/* Has the line of @a record written to every log; some lines wait for
 * access_log_line_flush().
 * @param end wall clock, µs: when the answer was done */
void access_log_line_write(accesslogline *l, const access_log_record *record,
                           apr_time_t end);

/* Writes the lines that wait. */
void access_log_line_flush(accesslogline *l);

#endif
