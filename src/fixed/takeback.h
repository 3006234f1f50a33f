/*
 * takeback: a keep-alive connection of httpd's, whose next request the loop
 * can answer, goes back to the loop; one whose request may be learned gets a
 * note; one whose request was learned idles at the loop. On the worker that
 * serves it.
 */
#ifndef CPUAFFINITY_TAKEBACK_H
#define CPUAFFINITY_TAKEBACK_H

#include "httpd.h"

/* process_connection, before every other module, which it may call itself.
 * @return DECLINED, or OK: it is the loop's now and the MPM closes its copy;
 * or what the others returned */
int takeback_process_connection(conn_rec *c);

#endif
