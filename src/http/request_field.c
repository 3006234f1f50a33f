/* SPDX-License-Identifier: Apache-2.0 */
#include "http/request_field.h"

#include <string.h>

/* Reasons that many fields share. */
#define NEGOTIATED "only negotiation and error documents: no learned file"
#define CACHING "read by caches only, which are not known modules"
#define CLIENT "describes the client to the site's own programs"
#define CHAIN "left by a proxy in front; configured readers refuse (S2)"
#define TRACE "follows a request through programs; httpd never reads it"
#define CDN "left by a delivery network; configured readers refuse (S2)"

#define FIELD_NAME(id, name, why) {name, sizeof(name) - 1, why},
static const struct {
    const char *name;
    size_t len;
    const char *why;
} fields[] = {REQUEST_FIELD_LIST(FIELD_NAME)};

_Static_assert(REQUEST_IDS <= 64, "ids are the bits of one word");

/* Where the names of each length start; 0xff: there are none. */
#define NONE 0xff
static const unsigned char first[REQUEST_FIELD_NAME + 2] = {
    [0 ... 2] = NONE,
    [3] = REQUEST_DNT,
    [4] = REQUEST_FROM,
    [5] = REQUEST_RANGE,
    [6] = REQUEST_ACCEPT,
    [7] = REQUEST_PURPOSE,
    [8] = REQUEST_ALT_USED,
    [9] = REQUEST_FORWARDED,
    [10] = REQUEST_CF_VISITOR,
    [11] = REQUEST_SEC_PURPOSE,
    [12] = REQUEST_CF_IPCOUNTRY,
    [13] = REQUEST_CACHE_CONTROL,
    [14] = REQUEST_ACCEPT_CHARSET,
    [15] = REQUEST_ACCEPT_ENCODING,
    [16] = REQUEST_CF_CONNECTING_IP,
    [17] = REQUEST_IF_MODIFIED_SINCE,
    [18] = REQUEST_SEC_CH_UA_PLATFORM,
    [19 ... 20] = NONE,
    [21] = REQUEST_X_CLOUD_TRACE_CONTEXT,
    [22 ... 24] = NONE,
    [25] = REQUEST_UPGRADE_INSECURE_REQUESTS,
    [26] = NONE,
};

const unsigned char requestfield_fold[256] = {
    ['-'] = '-', ['0'] = '0', ['1'] = '1', ['2'] = '2', ['3'] = '3',
    ['4'] = '4', ['5'] = '5', ['6'] = '6', ['7'] = '7', ['8'] = '8',
    ['9'] = '9', ['A'] = 'a', ['B'] = 'b', ['C'] = 'c', ['D'] = 'd',
    ['E'] = 'e', ['F'] = 'f', ['G'] = 'g', ['H'] = 'h', ['I'] = 'i',
    ['J'] = 'j', ['K'] = 'k', ['L'] = 'l', ['M'] = 'm', ['N'] = 'n',
    ['O'] = 'o', ['P'] = 'p', ['Q'] = 'q', ['R'] = 'r', ['S'] = 's',
    ['T'] = 't', ['U'] = 'u', ['V'] = 'v', ['W'] = 'w', ['X'] = 'x',
    ['Y'] = 'y', ['Z'] = 'z', ['a'] = 'a', ['b'] = 'b', ['c'] = 'c',
    ['d'] = 'd', ['e'] = 'e', ['f'] = 'f', ['g'] = 'g', ['h'] = 'h',
    ['i'] = 'i', ['j'] = 'j', ['k'] = 'k', ['l'] = 'l', ['m'] = 'm',
    ['n'] = 'n', ['o'] = 'o', ['p'] = 'p', ['q'] = 'q', ['r'] = 'r',
    ['s'] = 's', ['t'] = 't', ['u'] = 'u', ['v'] = 'v', ['w'] = 'w',
    ['x'] = 'x', ['y'] = 'y', ['z'] = 'z',
};

int request_field_find(const char *lower, size_t len)
{
    unsigned i;

    if (len > REQUEST_FIELD_NAME || first[len] == NONE) {
        return -1;
    }
    /* the names of one length are few; most differ in the last letter */
    for (i = first[len]; i < REQUEST_IDS && fields[i].len == len; i++) {
        if (fields[i].name[len - 1] == lower[len - 1]
            && !memcmp(fields[i].name, lower, len)) {
            return (int)i;
        }
    }
    return -1;
}

int request_field_starts(const char *lower, size_t len, uint64_t seen)
{
    unsigned i;

    for (i = 0; i < REQUEST_IDS; i++) {
        if (!(seen >> i & 1) && !strncmp(fields[i].name, lower, len)) {
            return 1;
        }
    }
    return 0;
}

const char *request_field_name(unsigned id)
{
    return id < REQUEST_IDS ? fields[id].name : NULL;
}

const char *request_field_why(unsigned id)
{
    return id < REQUEST_IDS ? fields[id].why : NULL;
}
