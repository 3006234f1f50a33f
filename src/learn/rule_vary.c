/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/rule_vary.h"

#include "apr_strings.h"

reason_id rule_vary(verdict_subject *s, uint64_t *bits)
{
    const char *vary = apr_table_get(s->r->headers_out, "Vary");
    char *copy = vary ? apr_pstrdup(s->r->pool, vary) : NULL, *state, *token;

    *bits = 0;
    for (token = copy ? apr_strtok(copy, ", \t", &state) : NULL; token;
         token = apr_strtok(NULL, ", \t", &state)) {
        int id = request_field(token, strlen(token));

        if (!strcmp(token, "*")) {
            s->detail = "Vary: *";
            return REASON_HEAD;
        }
        if (id == REQUEST_FIELD_INERT) {
            s->detail = "Vary names a field that nothing was known to read";
            return REASON_HEAD;
        }
        if (id >= 0) {
            *bits |= (uint64_t)1 << id;
        }
    }
    return REASON_OK;
}
