/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/authz.h"

#include "ap_provider.h"
#include "http_request.h"
#include "mod_auth.h"
#include "apr_strings.h"

#include "learn/trace.h"

/* A provider's function is not told which provider it is: one function for
 * each. */
#define WRAPS 64
static struct {
    const char *name;
    const authz_provider *original;
    authz_provider mine;
} wraps[WRAPS];
static int wrapped;
static const char *missing;

static authz_status ask(int i, request_rec *r, const char *line,
                        const void *parsed)
{
    trace_mark(r, REASON_CLIENT, wraps[i].name);
    return wraps[i].original->check_authorization(r, line, parsed);
}

/* clang-format off */
#define NUMBERS(X)                                                            \
    X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12)       \
    X(13) X(14) X(15) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24)   \
    X(25) X(26) X(27) X(28) X(29) X(30) X(31) X(32) X(33) X(34) X(35) X(36)   \
    X(37) X(38) X(39) X(40) X(41) X(42) X(43) X(44) X(45) X(46) X(47) X(48)   \
    X(49) X(50) X(51) X(52) X(53) X(54) X(55) X(56) X(57) X(58) X(59) X(60)   \
    X(61) X(62) X(63)
/* clang-format on */

#define ASK(n)                                                                 \
    static authz_status ask_##n(request_rec *r, const char *line,              \
                                const void *parsed)                            \
    {                                                                          \
        return ask(n, r, line, parsed);                                        \
    }
NUMBERS(ASK)

#define ASK_NAME(n) ask_##n,
static authz_status (*const asks[WRAPS])(request_rec *, const char *,
                                         const void *) = {NUMBERS(ASK_NAME)};

static int is_wrap(const authz_provider *provider)
{
    int i;

    for (i = 0; i < WRAPS; i++) {
        if (provider == &wraps[i].mine) {
            return 1;
        }
    }
    return 0;
}

static void wrap(apr_pool_t *pconf, const char *name)
{
    const authz_provider *original =
        ap_lookup_provider(AUTHZ_PROVIDER_GROUP, name, AUTHZ_PROVIDER_VERSION);

    if (!original) {
        return;
    }
    if (wrapped == WRAPS) {
        missing = apr_pstrdup(pconf, name);
        return;
    }
    wraps[wrapped].name = apr_pstrdup(pconf, name);
    wraps[wrapped].original = original;
    wraps[wrapped].mine = *original;
    wraps[wrapped].mine.check_authorization = asks[wrapped];
    /* Not ap_register_auth_provider: httpd counts those, and the count tells
     * it how to treat subrequests. */
    ap_register_provider(pconf, AUTHZ_PROVIDER_GROUP, wraps[wrapped].name,
                         AUTHZ_PROVIDER_VERSION, &wraps[wrapped].mine);
    wrapped++;
}

void authz_wrap(apr_pool_t *pconf)
{
    apr_array_header_t *names = ap_list_provider_names(
        pconf, AUTHZ_PROVIDER_GROUP, AUTHZ_PROVIDER_VERSION);
    int i;

    for (i = 0; i < names->nelts; i++) {
        if (is_wrap(ap_lookup_provider(
                AUTHZ_PROVIDER_GROUP,
                APR_ARRAY_IDX(names, i, ap_list_provider_names_t).provider_name,
                AUTHZ_PROVIDER_VERSION))) {
            return; /* of this reading of the configuration already */
        }
    }
    wrapped = 0;
    missing = NULL;
    for (i = 0; i < names->nelts; i++) {
        const char *name =
            APR_ARRAY_IDX(names, i, ap_list_provider_names_t).provider_name;

        if (strcmp(name, "all")) {
            wrap(pconf, name);
        }
    }
}

const char *authz_missing(void)
{
    return missing;
}
