/* SPDX-License-Identifier: Apache-2.0 */
#include "log/access_log_time.h"

#include "apr_optional.h"
#include "apr_strings.h"
#include "mod_log_config.h"

#include <strings.h>

static __thread apr_time_t line_end;

/* When the line last looked at ended: all its items say the same. */
static __thread struct {
    const request_rec *r;
    apr_time_t began;
    apr_time_t end;
} seen;

void access_log_time_set(apr_time_t end)
{
    line_end = end;
}

static apr_time_t duration(const request_rec *r)
{
    if (line_end) {
        return line_end - r->request_time;
    }
    if (seen.r != r || seen.began != r->request_time) {
        seen.r = r;
        seen.began = r->request_time;
        seen.end = apr_time_now();
    }
    return seen.end - r->request_time;
}

static const char *number(request_rec *r, apr_time_t n)
{
    return apr_psprintf(r->pool, "%" APR_TIME_T_FMT, n);
}

static const char *microseconds(request_rec *r, char *unused)
{
    return number(r, duration(r));
}

static const char *scaled(request_rec *r, char *unit)
{
    if (!*unit || !strcasecmp(unit, "s")) {
        return number(r, apr_time_sec(duration(r)));
    }
    if (!strcasecmp(unit, "ms")) {
        return number(r, apr_time_as_msec(duration(r)));
    }
    return strcasecmp(unit, "us") ? unit : number(r, duration(r));
}

void access_log_time_register(apr_pool_t *pconf)
{
    APR_OPTIONAL_FN_TYPE(ap_register_log_handler) *add =
        APR_RETRIEVE_OPTIONAL_FN(ap_register_log_handler);

    if (add) {
        add(pconf, "D", microseconds, 1);
        add(pconf, "T", scaled, 1);
    }
}
