/* SPDX-License-Identifier: Apache-2.0 */
#include "http/request_why.h"

#include <string.h>
#include <strings.h>

#include "http/request_field.h"

#define ROW(id, name, text) {name, text},
static const struct {
    const char *name;
    const char *text;
} whys[] = {REQUEST_WHY_LIST(ROW)};

const char *request_why_name(unsigned why)
{
    return why < REQUEST_WHYS ? whys[why].name : NULL;
}

const char *request_why_text(unsigned why)
{
    return why < REQUEST_WHYS ? whys[why].text : NULL;
}

static int is(const char *name, size_t len, const char *known)
{
    return len == strlen(known) && !strncasecmp(name, known, len);
}

request_why request_why_field(const char *name, const char *end, size_t *len)
{
    const char *p = name;

    while (p < end && request_field_is_token(*p)) {
        p++;
    }
    *len = (size_t)(p - name);
    if (is(name, *len, "content-length")
        || is(name, *len, "transfer-encoding")) {
        return REQUEST_WHY_BODY;
    }
    return *len && (p == end || *p == ':') ? REQUEST_WHY_FIELD
                                           : REQUEST_WHY_SYNTAX;
}
