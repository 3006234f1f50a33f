/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spare: explains a message of mpm_event's. The mode sets MinSpareThreads so
 * high that the loss of one process is too few (processes.c), and the MPM
 * says at error that MaxRequestWorkers should be raised as soon as the threads
 * of one process are busy. It cannot be kept from that.
 */
#ifndef CPUAFFINITY_SPARE_H
#define CPUAFFINITY_SPARE_H

#include "httpd.h"
#include "http_core.h"

/* Logs what that message means, at notice: right after it, as the hook
 * error_log runs. Any other message: nothing. Any process and thread. */
void spare_error_log(const ap_errorlog_info *info);

#endif
