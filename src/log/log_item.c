/* SPDX-License-Identifier: Apache-2.0 */
#include "log/log_item.h"

#include "apr_strings.h"

#include <strings.h>

static const char *const plain[] = {"", NULL};
static const char *const either[] = {"", "c", NULL};
static const char *const process[] = {"", "pid", NULL};

/* The items that the loop can write, each with the reason why its value is the
 * one httpd would write; NULL arguments: any will do. Not in here, since the
 * loop has no such thing: the handler (R), other modules' notes (n), TLS (x,
 * c), the worker that served ({tid}P), the id of the connection in the error
 * log ({c}L), the time to the first byte (^FB); nor what an unknown module may
 * have added. */
static const struct item {
    const char *name;
    const char *const *arguments;
    unsigned needs;
    const char *never; /* no argument that starts so */
} items[] = {
    {"%", NULL, 0, NULL},
    /* the socket's addresses, and no module changes them (S2); a connection
     * with a name that was looked up does not come to the loop (detach) */
    {"h", either, 0, NULL},
    {"a", either, 0, NULL},
    {"A", plain, 0, NULL},
    {"p", NULL, 0, NULL},
    {"l", plain, 0, NULL}, /* IdentityCheck refuses */
    {"u", plain, 0, NULL}, /* an answer to somebody is not learned (R1) */
    /* of the request as it was read, and mapped when it was learned */
    {"r", NULL, 0, NULL},
    {"m", NULL, 0, NULL},
    {"U", NULL, 0, NULL},
    {"q", NULL, 0, NULL},
    {"H", NULL, 0, NULL},
    {"f", NULL, 0, NULL},
    {"i", NULL, LOG_ITEM_IN, NULL},
    {"C", NULL, LOG_ITEM_IN, NULL},
    {"^ti", NULL, 0, NULL}, /* it has no body, so no trailers, */
    {"^to", NULL, 0, NULL}, /* and its answer has none */
    /* of the answer and how it went out */
    {"s", NULL, 0, NULL},
    {"o", NULL, LOG_ITEM_OUT, NULL},
    {"b", NULL, 0, NULL},
    {"B", NULL, 0, NULL},
    {"I", NULL, LOG_ITEM_READ, NULL},
    {"O", NULL, LOG_ITEM_SENT, NULL},
    {"S", NULL, LOG_ITEM_READ | LOG_ITEM_SENT, NULL},
    {"k", NULL, 0, NULL},
    {"X", NULL, 0, NULL},
    /* when it began; the end is known to the other two (access_log_time) */
    {"t", NULL, 0, "end"},
    {"T", NULL, 0, NULL},
    {"D", NULL, 0, NULL},
    /* of the process and the virtual host */
    {"P", process, 0, NULL},
    {"v", NULL, 0, NULL},
    {"V", NULL, LOG_ITEM_NAME, NULL},
    /* the same for all requests of a key (setenvif): kept with the answer */
    {"e", NULL, LOG_ITEM_ENV, NULL},
    /* empty, or nothing is learned */
    {"L", plain, LOG_ITEM_ID, NULL},
};
#define ITEMS (sizeof(items) / sizeof(items[0]))

static const struct item *find(const char *name, size_t len, const char *arg)
{
    size_t i;

    for (i = 0; i < ITEMS; i++) {
        const char *const *a = items[i].arguments;

        if (strlen(items[i].name) != len
            || strncmp(items[i].name, name, len) != 0) {
            continue;
        }
        while (a && *a && strcmp(*a, arg)) {
            a++;
        }
        return (a && !*a)
                       || (items[i].never
                           && !strncmp(arg, items[i].never,
                                       strlen(items[i].never)))
                   ? NULL
                   : &items[i];
    }
    return NULL;
}

/* One item behind its "%", as mod_log_config parses it: modifiers and an
 * argument in any order and number, then the name. Moves *at behind it.
 * @return NULL: it is not in the list */
static const struct item *parse(apr_pool_t *p, const char **at,
                                const char **argument)
{
    const char *s = *at, *arg = "";
    const struct item *found;
    size_t len;

    if (*s != '%') {
        s += strspn(s, "<>!,0123456789");
        while (*s == '{') {
            s++;
            arg = ap_getword(p, &s, '}');
            s += strspn(s, "<>!,0123456789");
        }
    }
    len = *s == '^' ? strnlen(s, 3) : *s != '\0';
    found = len ? find(s, len, arg) : NULL;
    *at = s + len;
    *argument = arg;
    return found;
}

const char *log_item_judge(apr_pool_t *p, const char *format, unsigned *needs,
                           apr_array_header_t *variables)
{
    const char *s = format;

    while ((s = ap_strchr_c(s, '%'))) {
        const char *from = s++, *arg;
        const struct item *found = parse(p, &s, &arg);

        if (!found) {
            return apr_pstrmemdup(p, from, (size_t)(s - from));
        }
        *needs |= found->needs;
        if (found->needs & LOG_ITEM_ENV) {
            APR_ARRAY_PUSH(variables, const char *) = arg;
        }
    }
    return NULL;
}

int log_item_shows(apr_pool_t *p, const char *format, const char *field)
{
    const char *s = format;

    while ((s = ap_strchr_c(s, '%'))) {
        const char *arg;
        const struct item *found = (s++, parse(p, &s, &arg));

        if (found && found->needs & LOG_ITEM_IN
            && !strcasecmp(*found->name == 'C' ? "Cookie" : arg, field)) {
            return 1;
        }
    }
    return 0;
}
