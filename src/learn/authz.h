/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authz: R4 of docs/security.md: notices when somebody asks who the client
 * is. Every authorisation provider but "all" is replaced by one that marks
 * the request and then asks the original. Internal to learn.
 */
#ifndef CPUAFFINITY_AUTHZ_H
#define CPUAFFINITY_AUTHZ_H

#include "httpd.h"

/* Wraps what is registered. After all modules have registered theirs, before
 * the configuration looks providers up: pre_config REALLY_LAST. */
void authz_wrap(apr_pool_t *pconf);

/* NULL, or the name of a provider for which there was no room: then nothing
 * may be learned. */
const char *authz_missing(void);

#endif
