/* SPDX-License-Identifier: Apache-2.0 */
/*
 * revalidate: when httpd is asked for an answer that the loop could give: now
 * and then, to compare it (docs/security.md, Audit), and before it is too old.
 * Never while all of httpd's threads are busy, as the client would wait for
 * one. Loop thread only.
 */
#ifndef CPUAFFINITY_REVALIDATE_H
#define CPUAFFINITY_REVALIDATE_H

#include "serve/state.h"

/* 1: this hit on @a e is for an audit, its own or one that had to wait. */
int revalidate_is_audit(loop *l, serve_state *st, const cache_entry *e);

/* Whether @a e, or its 304, is to be learned once more from this request;
 * CONN_NOTE_NEW: it is not. @a seconds since 1970, now. */
conn_note_ask revalidate_ask(loop *l, cache_entry *e, const request *req,
                             const char *head, int64_t seconds);

#endif
