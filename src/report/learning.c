/* SPDX-License-Identifier: Apache-2.0 */
#include "report/learning.h"

#include <stdlib.h>
#include <string.h>

#include "ap_mpm.h"
#include "http_core.h"
#include "http_protocol.h"
#include "apr_strings.h"

#include "learn/address.h"
#include "learn/learn.h"
#include "learn/not_mine.h"
#include "report/advice.h"
#include "report/causes.h"

#define COSTS_SHOWN 10 /* rows of the page */

/* A text of the configuration, in whatever encoding it is written. */
static json_t *string(const char *s)
{
    json_t *j = json_string(s);
    char *copy, *p;

    if (j) {
        return j;
    }
    copy = strdup(s);
    for (p = copy; p && *p; p++) {
        *p = *p & 0x80 ? '?' : *p;
    }
    j = json_string(copy ? copy : "");
    free(copy);
    return j;
}

static json_t *obstacles_json(unsigned server)
{
    json_t *list = json_array();
    const obstacle *o;
    unsigned i;

    for (i = 0; (o = learn_obstacle(i)); i++) {
        if (o->server == server && (!o->quiet || learn_met(i))) {
            json_array_append_new(
                list, json_pack("{s:I, s:o, s:o, s:i, s:s, s:o, s:s, s:b, s:I}",
                                "index", (json_int_t)o->index, "section",
                                string(o->section), "file",
                                string(o->file ? o->file : ""), "line", o->line,
                                "rule", o->rule, "what", string(o->what),
                                "advice", o->advice, "covers", o->covers,
                                "requests", (json_int_t)learn_met(i)));
        }
    }
    return list;
}

static json_t *not_mine_json(void)
{
    json_t *list = json_array();
    unsigned why;

    for (why = 0; why < REQUEST_WHYS; why++) {
        uint64_t n = not_mine_counted((request_why)why);

        if (n) {
            json_array_append_new(list, json_pack("{s:s, s:s, s:I}", "reason",
                                                  request_why_name(why), "text",
                                                  request_why_text(why),
                                                  "count", (json_int_t)n));
        }
    }
    return list;
}

static int generation(void)
{
    int n = 0;

    ap_mpm_query(AP_MPMQ_GENERATION, &n);
    return n;
}

static json_t *addresses_json(apr_pool_t *p)
{
    json_t *list = json_array();
    const address *a;
    const char *name;
    unsigned n;

    for (n = 0; (name = address_listen(p, n, &a)); n++) {
        json_array_append_new(
            list, json_pack("{s:s, s:b, s:o, s:s}", "address", name, "reads",
                            a->reads, "why", string(a->why ? a->why : ""),
                            "advice", a->advice ? a->advice : ""));
    }
    return list;
}

json_t *learning_json(apr_pool_t *p, uint64_t loop)
{
    json_t *servers = json_array(), *refusals = json_array();
    learn_state s;
    unsigned i;
    int reason;

    for (i = 0; learn_server(i, &s); i++) {
        if (s.wanted) {
            json_array_append_new(
                servers,
                json_pack("{s:o, s:s, s:s, s:o, s:o, s:o}", "server",
                          string(s.name), "state", s.rule ? "off" : "on",
                          "rule", s.rule ? s.rule : "", "why",
                          string(s.why ? s.why : ""), "obstacles",
                          obstacles_json(i), "causes", causes_json(i)));
        }
    }
    if (!json_array_size(servers)) {
        json_decref(servers);
        json_decref(refusals);
        return NULL;
    }
    for (reason = 0; reason < REASON_COUNT; reason++) {
        uint64_t n = learn_refusals((reason_id)reason);

        if (n) {
            json_array_append_new(
                refusals, json_pack("{s:s, s:s, s:I}", "rule",
                                    reason_rule((reason_id)reason), "reason",
                                    reason_text((reason_id)reason), "count",
                                    (json_int_t)n));
        }
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:i, s:I, s:o}", "servers", servers,
                     "refusals", refusals, "not_recognised", not_mine_json(),
                     "addresses", addresses_json(p), "generation", generation(),
                     "since", (json_int_t)learn_since(), "requests",
                     causes_totals(loop));
}

static const char *text(request_rec *r, const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));

    return s ? ap_escape_html(r->pool, s) : "";
}

static long number(const json_t *o, const char *key)
{
    return (long)json_integer_value(json_object_get(o, key));
}

static void html_obstacles(request_rec *r, const json_t *list)
{
    size_t i;
    json_t *o;

    json_array_foreach(list, i, o)
    {
        const char *file = text(r, o, "file");

        ap_rprintf(r,
                   "<tr><td><td>not in<td>%s<td style=\"text-align:left\">%s: "
                   "%s%s%s%s. <i>%s</i>\n",
                   text(r, o, "rule"), text(r, o, "section"),
                   text(r, o, "what"), *file ? ", " : "", file,
                   *file ? apr_psprintf(
                       r->pool, ":%ld",
                       (long)json_integer_value(json_object_get(o, "line")))
                         : "",
                   text(r, o, "advice"));
    }
}

/* Those that are not read. */
static void html_addresses(request_rec *r, const json_t *list)
{
    json_t *item;
    size_t i;

    json_array_foreach(list, i, item)
    {
        if (!json_is_true(json_object_get(item, "reads"))) {
            ap_rprintf(r,
                       "<p>What comes to %s is not read: %s. <i>%s</i></p>\n",
                       text(r, item, "address"), text(r, item, "why"),
                       text(r, item, "advice"));
        }
    }
}

/* What costs most, as far as it fits. */
static void html_costs(request_rec *r, const json_t *model)
{
    const char *why;
    json_t *advice = advice_make(model, NULL, &why), *list, *row;
    size_t i;

    list = json_object_get(advice, "costs");
    if (json_array_size(list)) {
        ap_rprintf(r,
                   "<p>Requests that httpd answered, the most expensive first "
                   "(%ld of %ld):</p>\n<table>\n",
                   number(json_object_get(advice, "requests"), "httpd"),
                   number(json_object_get(advice, "requests"), "all"));
    }
    json_array_foreach(list, i, row)
    {
        if (i == COSTS_SHOWN) {
            break;
        }
        ap_rprintf(r,
                   "<tr><td>%.1f&nbsp;%%<td>%s<td style=\"text-align:left\">"
                   "%s%s%s. <i>%s</i>\n",
                   json_real_value(json_object_get(row, "share")),
                   text(r, row, "rule"), text(r, row, "what"),
                   *text(r, row, "where") ? ", " : "", text(r, row, "where"),
                   text(r, row, "advice"));
    }
    if (json_array_size(list)) {
        ap_rputs("</table>\n", r);
    }
    json_decref(advice);
}

void learning_html(request_rec *r, const json_t *model)
{
    const json_t *learning = json_object_get(model, "learning");
    size_t i;
    json_t *item;

    if (!learning) {
        return;
    }
    ap_rputs("<h3>Repeated answers</h3>\n<table>\n", r);
    json_array_foreach(json_object_get(learning, "servers"), i, item)
    {
        ap_rprintf(r,
                   "<tr><td>%s<td>%s<td>%s<td style=\"text-align:left\">%s\n",
                   text(r, item, "server"), text(r, item, "state"),
                   text(r, item, "rule"), text(r, item, "why"));
        html_obstacles(r, json_object_get(item, "obstacles"));
    }
    ap_rputs("</table>\n", r);
    html_addresses(r, json_object_get(learning, "addresses"));
    html_costs(r, model);
    ap_rputs("<p>Answers that were not learned, by reason:</p>\n"
             "<table>\n",
             r);
    json_array_foreach(json_object_get(learning, "refusals"), i, item)
    {
        ap_rprintf(r, "<tr><td>%s<td style=\"text-align:left\">%s<td>%ld\n",
                   text(r, item, "rule"), text(r, item, "reason"),
                   (long)json_integer_value(json_object_get(item, "count")));
    }
    ap_rputs("</table>\n<p>Requests that were not recognised, by reason:</p>\n"
             "<table>\n",
             r);
    json_array_foreach(json_object_get(learning, "not_recognised"), i, item)
    {
        ap_rprintf(r, "<tr><td>%s<td style=\"text-align:left\">%s<td>%ld\n",
                   text(r, item, "reason"), text(r, item, "text"),
                   (long)json_integer_value(json_object_get(item, "count")));
    }
    ap_rputs("</table>\n", r);
}

static void prometheus_refusals(request_rec *r, const json_t *list)
{
    json_t *item;
    size_t i;

    if (!json_array_size(list)) {
        return;
    }
    ap_rputs("# HELP httpd_cpuaffinity_refusals_total Answers not learned.\n"
             "# TYPE httpd_cpuaffinity_refusals_total counter\n",
             r);
    json_array_foreach(list, i, item)
    {
        /* Rules and reasons are our own words: nothing to escape. */
        ap_rprintf(
            r,
            "httpd_cpuaffinity_refusals_total{rule=\"%s\",reason=\"%s\"} "
            "%ld\n",
            json_string_value(json_object_get(item, "rule")),
            json_string_value(json_object_get(item, "reason")),
            (long)json_integer_value(json_object_get(item, "count")));
    }
}

static void prometheus_not_recognised(request_rec *r, const json_t *list)
{
    json_t *item;
    size_t i;

    if (!json_array_size(list)) {
        return;
    }
    ap_rputs("# HELP httpd_cpuaffinity_not_recognised_total Requests that "
             "were httpd's at once.\n"
             "# TYPE httpd_cpuaffinity_not_recognised_total counter\n",
             r);
    json_array_foreach(list, i, item)
    {
        ap_rprintf(
            r, "httpd_cpuaffinity_not_recognised_total{reason=\"%s\"} %ld\n",
            json_string_value(json_object_get(item, "reason")),
            (long)json_integer_value(json_object_get(item, "count")));
    }
}

void learning_prometheus(request_rec *r, const json_t *learning)
{
    prometheus_refusals(r, json_object_get(learning, "refusals"));
    prometheus_not_recognised(r, json_object_get(learning, "not_recognised"));
}
