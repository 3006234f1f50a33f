/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spare: explains a message of mpm_event. The mode sets MinSpareThreads so
 * high that losing one process leaves too few (processes.c), so the MPM logs
 * at level error that MaxRequestWorkers should be raised as soon as the
 * threads of one process are busy. It cannot be kept from that.
 */
#ifndef CPUAFFINITY_SPARE_H
#define CPUAFFINITY_SPARE_H

#include "httpd.h"
#include "http_core.h"

/* Logs, at level notice, what that message means, right after it (from the
 * hook error_log). Ignores any other message. Any process and thread. */
void spare_error_log(const ap_errorlog_info *info);

#endif
