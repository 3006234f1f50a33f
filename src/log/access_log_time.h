/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access_log_time: the items %D and %T of access logs. For mod_log_config a
 * request ends when it writes the first of them, which is long after the loop's
 * answer while the log takes no lines. So both are replaced; in httpd's own
 * lines they mean what they always did. Internal to access_log.
 */
#ifndef CPUAFFINITY_ACCESS_LOG_TIME_H
#define CPUAFFINITY_ACCESS_LOG_TIME_H

#include "httpd.h"

/* Before any format is read; does nothing without mod_log_config.
 * pre_config, of each reading of the configuration. */
void access_log_time_register(apr_pool_t *pconf);

/* The request whose lines the calling thread is about to write ended then
 * (wall clock, µs); 0: its lines are httpd's again. */
void access_log_time_set(apr_time_t end);

#endif
