/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access_log_writer: mod_log_config's writer for the lines of the log thread:
 * several go out in one write, as with BufferedLogs, but none waits longer
 * than until access_log_writer_flush(). Other threads' lines go straight to the
 * writer that was there before. Internal to access_log.
 */
#ifndef CPUAFFINITY_ACCESS_LOG_WRITER_H
#define CPUAFFINITY_ACCESS_LOG_WRITER_H

#include "httpd.h"

/* Puts itself in front of mod_log_config's writer for this process. Before
 * the thread that logs starts; without mod_log_config nothing happens. */
void access_log_writer_install(void);

/* The calling thread's lines are gathered from now on. One thread. */
void access_log_writer_begin(void);

/* Writes what was gathered. @param r a request_rec for the writer, which
 * allocates from its pool. The thread of access_log_writer_begin(). */
void access_log_writer_flush(request_rec *r);

#endif
