/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status: the handler "cpuaffinity-status": a page for a person, ?json and
 * ?prometheus; and a section of mod_status's page. All are views of the one
 * structure that model_make() builds.
 */
#ifndef CPUAFFINITY_STATUS_H
#define CPUAFFINITY_STATUS_H

#include "httpd.h"

/* Answers GET for SetHandler cpuaffinity-status; DECLINED for all others.
 * Worker thread. */
int status_handler(request_rec *r);

/* Registers the section of mod_status's page (an optional hook: nothing
 * happens where mod_status is not loaded). In register_hooks. */
void status_register(void);

#endif
