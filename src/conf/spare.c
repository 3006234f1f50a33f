/* SPDX-License-Identifier: Apache-2.0 */
#include "conf/spare.h"

#include "http_log.h"

#include <string.h>

#include "conf/processes.h"

APLOG_USE_MODULE(cpuaffinity);

#define NUMBER "AH10159"

void spare_error_log(const ap_errorlog_info *info)
{
    int seats = processes_count(), threads = processes_threads();

    /* With the colon: our own message passes through this hook as well. */
    if (!seats || !info->format
        || strncmp(info->format, NUMBER ": ", strlen(NUMBER ": ")) != 0) {
        return;
    }
    ap_log_error(APLOG_MARK, APLOG_NOTICE, 0, info->s,
                 NUMBER " says only that %d or more of the %d worker threads "
                        "are busy: FixedProcesses sets MinSpareThreads so that "
                        "a process that ended is replaced at once. Should all "
                        "be busy (AH00484), raise ThreadsPerChild (now %d)",
                 threads, seats * threads, threads);
}
