/* SPDX-License-Identifier: Apache-2.0 */
#include "report/status.h"

#include <stdlib.h>

#include "http_config.h"
#include "http_core.h"
#include "http_protocol.h"
#include "mod_status.h"

#include "report/model.h"
#include "report/page.h"

static void write_json(request_rec *r, const json_t *model)
{
    char *text = json_dumps(model, JSON_INDENT(1));

    ap_rputs(text ? text : "{}", r);
    ap_rputs("\n", r);
    free(text);
}

int status_handler(request_rec *r)
{
    static const struct {
        const char *args;
        const char *type;
        void (*write)(request_rec *r, const json_t *model);
    } views[] = {
        {"json", "application/json", write_json},
        {"prometheus", "text/plain; version=0.0.4", page_prometheus},
        {NULL, "text/html; charset=utf-8", page_html},
    };
    json_t *model;
    int i;

    if (!r->handler || strcmp(r->handler, "cpuaffinity-status")) {
        return DECLINED;
    }
    r->allowed |= AP_METHOD_BIT << M_GET;
    if (r->method_number != M_GET) {
        return DECLINED;
    }
    for (i = 0; views[i].args && (!r->args || strcmp(r->args, views[i].args));
         i++) {
    }
    ap_set_content_type(r, views[i].type);
    apr_table_setn(r->headers_out, "Cache-Control", "no-store");
    model = model_make(r->pool);
    if (!model) {
        model = json_pack("{s:[], s:s, s:[], s:[s]}", "cpus", "unit", "off",
                          "seats", "warnings", "CPUAffinity is off");
    }
    if (!r->header_only) {
        views[i].write(r, model);
    }
    json_decref(model);
    return OK;
}

/* The section on mod_status's page; its ?auto form is for programs. */
static int status_section(request_rec *r, int flags)
{
    json_t *model;

    if (!(model = model_make(r->pool))) {
        return OK;
    }
    if (flags & AP_STATUS_SHORT) {
        page_auto(r, model);
    }
    else {
        ap_rputs("<hr>\n<h2>CPU affinity</h2>\n", r);
        page_section(r, model);
    }
    json_decref(model);
    return OK;
}

void status_register(void)
{
    APR_OPTIONAL_HOOK(ap, status_hook, status_section, NULL, NULL,
                      APR_HOOK_MIDDLE);
}
