/* SPDX-License-Identifier: Apache-2.0 */
#include "log/access_log_tls.h"

#include <stddef.h>

static __thread int is_tls;

void access_log_tls_set(int on)
{
    is_tls = on;
}

const char *access_log_tls_scheme(const request_rec *r)
{
    return is_tls ? "https" : NULL;
}

apr_port_t access_log_tls_port(const request_rec *r)
{
    return is_tls ? 443 : 0;
}
