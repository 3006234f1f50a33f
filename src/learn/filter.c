/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/filter.h"

#include "util_filter.h"

#include <strings.h>

#include "learn/modules.h"

/* Filters that pass a file on as it is, and what is behind their names. */
static const char *const transparent[] = {
    "content_length",
    "byterange",
    "http_header",
    "http_outerror",
    "core",
    "ssl/tls filter", /* below what is learned */
    "ssl/tls coalescing filter",
    "log_input_output",
    "reqtimeout",
    "cpuaffinity_head",
    "cpuaffinity_shape",
    "cpuaffinity_source",
    "fixup_headers_out",
    "fixup_headers_err",
    "mod_session_out", /* without a session it does nothing; with one, S2 */
};
static const struct {
    const char *name;
    const char *coding; /* in Content-Encoding */
} compressing[] = {
    {"DEFLATE", "gzip"},
    {"BROTLI_COMPRESS", "br"},
};
#define TRANSPARENT (sizeof(transparent) / sizeof(transparent[0]))
#define COMPRESSING (sizeof(compressing) / sizeof(compressing[0]))

static int same(const char *name, size_t len, const char *known)
{
    return strlen(known) == len && !strncasecmp(known, name, len);
}

static int is_transparent(const char *name)
{
    size_t i;

    for (i = 0; i < TRANSPARENT; i++) {
        if (same(name, strlen(name), transparent[i])) {
            return 1;
        }
    }
    return 0;
}

/* Which of compressing it is, -1: none. */
static int compressing_of(const char *name, size_t len)
{
    size_t i;

    for (i = 0; i < COMPRESSING; i++) {
        if (same(name, len, compressing[i].name)) {
            return (int)i;
        }
    }
    return -1;
}

#define BYTYPE "bytype:"

/* The names behind "bytype:". */
static const char *names_of(const char *name)
{
    return strncasecmp(name, BYTYPE, sizeof(BYTYPE) - 1)
               ? name
               : name + sizeof(BYTYPE) - 1;
}

int filter_is_compressing(const char *name)
{
    for (name = names_of(name);;) {
        size_t len = strcspn(name, ";");

        if (compressing_of(name, len) < 0) {
            return 0;
        }
        if (!name[len]) {
            return 1;
        }
        name += len + 1;
    }
}

int filter_is_passing(const char *name)
{
    return is_transparent(name) || filter_is_compressing(name);
}

const char *filter_forbids(const request_rec *r, const char **filter,
                           int *clocked)
{
    ap_filter_t *f;

    for (f = r->output_filters; f; f = f->next) {
        const char *name = f->frec->name;

        if (!modules_is_owner((const void *)f->frec->filter_func.out_func)) {
            return name;
        }
        if (filter_is_compressing(name)) {
            *filter = name;
        }
        else if (same(name, strlen(name), "mod_expires")) {
            *clocked = 1;
        }
        else if (!is_transparent(name)) {
            return name;
        }
    }
    return NULL;
}

const char *filter_acted(const request_rec *r)
{
    const char *coding = apr_table_get(r->headers_out, "Content-Encoding");
    size_t i;

    for (i = 0; coding && i < COMPRESSING; i++) {
        if (!strcasecmp(coding, compressing[i].coding)) {
            return compressing[i].coding;
        }
    }
    return NULL;
}
