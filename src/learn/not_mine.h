/* SPDX-License-Identifier: Apache-2.0 */
/*
 * not_mine: requests that are httpd's before anything was looked up: counted by
 * reason, and named in the log at debug: the reason and the name of a field,
 * never a value. The loop only counts; the log lines are written by httpd's
 * threads.
 */
#ifndef CPUAFFINITY_NOT_MINE_H
#define CPUAFFINITY_NOT_MINE_H

#include "httpd.h"

#include "http/request.h"

/* Counts one, for all processes of the generation. @return why + 1. Any
 * thread. */
int not_mine_count(request_why why);

/* How many there were, in all processes. Any thread. */
uint64_t not_mine_counted(request_why why);

/* Names one that request_recognise() refused in these bytes. A worker. */
void not_mine_name(const conn_rec *c, const request *req, const char *head);

/* The same for the first bytes of what the loop handed over, when they are
 * refused; does nothing unless the log level is debug. A worker. */
void not_mine_look(const conn_rec *c, const char *head, size_t len,
                   const request_limits *limits);

#endif
