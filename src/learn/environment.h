/* SPDX-License-Identifier: Apache-2.0 */
/*
 * environment: which variables of a request may have been set for it although
 * its answer is learned (R5 of docs/security.md). Internal to learn.
 */
#ifndef CPUAFFINITY_ENVIRONMENT_H
#define CPUAFFINITY_ENVIRONMENT_H

#include "httpd.h"
#include "http_config.h"

#include "learn/htaccess.h"

/* Does a directive name the variable that mod_unique_id sets? Configuration
 * time; temporary storage from @a p. */
int environment_is_read(apr_pool_t *p, const ap_directive_t *node);

/*
 * The first of the request's variables that counts; NULL: none does, all follow
 * from the key (setenvif) or are mod_unique_id's.
 * @param a the .htaccess files of the request; NULL: none
 * @param unread 1: nothing that applies to the server names mod_unique_id's
 * Any worker.
 */
const char *environment_first(const request_rec *r, int unread,
                              const htaccess *a);

/*
 * Copies those of the variables that the request has, name and value with a
 * NUL each.
 * @param names const char *
 * @param out   RESPONSE_ENV bytes
 * @return how many were used; -1: they have no room. Any worker.
 */
int environment_copy(const request_rec *r, const apr_array_header_t *names,
                     char *out);

#endif
