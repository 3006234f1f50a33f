/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve: a connection on the loop: reads requests, repeats answers, hands
 * over the rest, lingers, closes. The functions are the loop_server's (see
 * loop.h). Loop thread only.
 */
#ifndef CPUAFFINITY_SERVE_H
#define CPUAFFINITY_SERVE_H

#include "serve/state.h"

void serve_ready(loop *l, conn *c, uint32_t events);
void serve_expired(loop *l, conn *c);
void serve_stopping(loop *l, conn *c, int graceful);
void serve_closing(loop *l, conn *c);

#endif
