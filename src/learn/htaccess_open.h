/* SPDX-License-Identifier: Apache-2.0 */
/*
 * htaccess_open: httpd's hook of that name, for requests that may be learned.
 * Internal to learn.
 */
#ifndef CPUAFFINITY_HTACCESS_OPEN_H
#define CPUAFFINITY_HTACCESS_OPEN_H

#include "httpd.h"
#include "http_config.h"

/* The hook: REALLY_FIRST, as httpd is to read what was judged. Declines for
 * requests without a trace. Any worker. */
apr_status_t htaccess_open(request_rec *r, const char *dir, const char *name,
                           ap_configfile_t **file, const char **full_name);

#endif
