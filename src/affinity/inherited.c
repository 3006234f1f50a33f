/* SPDX-License-Identifier: Apache-2.0 */
#include "affinity/inherited.h"

#include <errno.h>

#include <hwloc/bitmap.h>

#include "apr_strings.h"

#include "httpd.h"
#include "http_core.h"
#include "http_log.h"
#include "http_main.h"

#include "affinity/cgroup.h"
#include "affinity/pin.h"

APLOG_USE_MODULE(cpuaffinity);

/* In memory that outlives a reload of the DSO; the number is the layout
 * version. */
#define RETAINED "mod_cpuaffinity/inherited-mask-2"
typedef struct first_mask {
    const char *list; /* what httpd was started with */
    int follow;       /* it was the whole cpuset */
} first_mask;

/* Where no cpuset can be seen, the whole machine counts as one. */
static int is_cpuset(apr_pool_t *p, const cpuset *mask)
{
    char list[8192];
    cpuset *all = cpuset_make(p);
    apr_file_t *f;

    if (cgroup_cpuset("", list, sizeof(list))) {
        if (apr_file_open(&f, "/sys/devices/system/cpu/online", APR_READ, 0,
                          p)) {
            return 0;
        }
        if (apr_file_gets(list, sizeof(list), f)) {
            *list = '\0';
        }
        apr_file_close(f);
    }
    return !cpuset_from_list(list, all) && hwloc_bitmap_isequal(all, mask);
}

static first_mask *keep(apr_pool_t *p, const cpuset *now)
{
    first_mask *first = ap_retained_data_create(RETAINED, sizeof(*first));

    first->list = apr_pstrdup(ap_pglobal, cpuset_format(p, now));
    first->follow = is_cpuset(p, now);
    return first;
}

cpuset *inherited_mask(apr_pool_t *p)
{
    const first_mask *first = ap_retained_data_get(RETAINED);
    cpuset *now = cpuset_make(p), *taskset;

    if (pin_get(0, now)) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, errno, NULL,
                     "CPUAffinity: cannot read the CPU mask of httpd");
        hwloc_bitmap_zero(now);
    }
    if (!first) {
        first = keep(p, now);
    }
    if (first->follow || !*first->list) {
        return now;
    }
    taskset = cpuset_make(p);
    hwloc_bitmap_list_sscanf(taskset, first->list);
    if (hwloc_bitmap_iszero(now)) {
        return taskset;
    }
    hwloc_bitmap_and(taskset, taskset, now);
    if (hwloc_bitmap_iszero(taskset)) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, NULL,
                     "CPUAffinity: httpd was started on CPUs %s, of which it "
                     "has none any more: using those that the kernel gives "
                     "it, %s",
                     first->list, cpuset_format(p, now));
        return now;
    }
    return taskset;
}
