/* SPDX-License-Identifier: Apache-2.0 */
/*
 * setup: answers on the loop: recognises requests, repeats what httpd has
 * answered before, and hands over the rest, with a note where httpd's answer
 * may be learned. Plugs into the loop as its loop_server.
 */
#ifndef CPUAFFINITY_SETUP_H
#define CPUAFFINITY_SETUP_H

#include "httpd.h"

#include "loop/loop.h"

/*
 * Prepares the answers of this child. In child_init after
 * learn_child_init(), before the loop starts. Main thread.
 * @return what to give the loop, or NULL: no address has a FixedStatic vhost
 *         behind it, or there is no memory (logged)
 */
const loop_server *setup_make(apr_pool_t *pchild, server_rec *s,
                              const sockets_set *sockets);

#endif
