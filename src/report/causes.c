/* SPDX-License-Identifier: Apache-2.0 */
#include "report/causes.h"

#include "learn/cost.h"
#include "learn/learn.h"

json_t *causes_json(unsigned server)
{
    json_t *list = json_array();
    unsigned cause;

    for (cause = 0; cause < COSTS; cause++) {
        uint64_t n = learn_cost(server, cause);
        cost_text t = cost_describe(cause);

        if (n) {
            json_array_append_new(
                list, json_pack("{s:s, s:s, s:s, s:s, s:I}", "kind", t.kind,
                                "name", t.name, "text", t.text, "advice",
                                t.advice, "requests", (json_int_t)n));
        }
    }
    return list;
}

json_t *causes_totals(uint64_t loop)
{
    uint64_t httpd = 0, elsewhere = 0;
    learn_state s;
    unsigned i, cause;

    for (i = 0; learn_server(i, &s); i++) {
        for (cause = 0; cause < COSTS; cause++) {
            uint64_t n = learn_cost(i, cause);

            httpd += n;
            elsewhere += s.wanted ? 0 : n;
        }
    }
    for (i = 0; learn_obstacle(i); i++) {
        httpd += learn_met(i);
    }
    return json_pack("{s:I, s:I, s:I}", "loop", (json_int_t)loop, "httpd",
                     (json_int_t)httpd, "elsewhere", (json_int_t)elsewhere);
}
