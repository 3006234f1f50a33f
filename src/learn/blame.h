/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame: counts each request that httpd answers by what kept it from the loop
 * (cost). Worker threads. Internal to learn.
 */
#ifndef CPUAFFINITY_BLAME_H
#define CPUAFFINITY_BLAME_H

#include "learn/vhost.h"

/*
 * One that was judged and refused: by @a by, else by the obstacle of that
 * reason that holds it, else by the reason.
 * @param server NULL: nothing is counted
 * @param detail the name of what was met; or NULL
 */
void blame_refused(const vhost *server, const request_rec *r, reason_id reason,
                   const obstacle *by, const char *detail);

/* One that was judged and learned from; @a again: it was known. */
void blame_taught(const vhost *server, int again);

/* One that has no trace: it was not recognised, or the loop did not read it.
 * Once its server is known. */
void blame_untraced(const request_rec *r);

#endif
