/*
 * takeback: an idle keep-alive connection of httpd's, whose next request the
 * loop can answer, goes back to the loop; one whose request may be learned
 * gets a note. On the worker that is about to serve it.
 */
#ifndef CPUAFFINITY_TAKEBACK_H
#define CPUAFFINITY_TAKEBACK_H

#include "httpd.h"

/* process_connection, before every other module. @return DECLINED, or OK: it
 * is the loop's now and the MPM closes its copy. */
int takeback_process_connection(conn_rec *c);

#endif
