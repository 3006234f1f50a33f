/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/trace.h"

#include "http_config.h"

#include "conf/config.h"

extern module AP_MODULE_DECLARE_DATA cpuaffinity_module;

trace *trace_of(const request_rec *r)
{
    while (r->main) {
        r = r->main;
    }
    return ap_get_module_config(r->request_config, &cpuaffinity_module);
}

void trace_mark(const request_rec *r, reason_id reason, const char *detail)
{
    trace *t = trace_of(r);

    if (t && t->reason == REASON_OK) {
        t->reason = reason;
        t->detail = detail;
    }
}

static int looks(const ap_conf_vector_t *dir)
{
    return config_dir_get(dir)->looks != CONFIG_UNSET;
}

int trace_looks(const request_rec *r, const trace *t)
{
    return looks(r->per_dir_config) || (t->asked && looks(t->asked));
}
