/* SPDX-License-Identifier: Apache-2.0 */
#include "affinity/cpuset.h"

#include <ctype.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include <hwloc/bitmap.h>

#include <apr_strings.h>

/* Far above any machine's CPUs, far below a bitmap's limit. */
#define NUMBER_MAX 1000000u
/* Most digits of a mask. */
#define MASK_DIGITS_MAX 65536
/* Characters of an item that a message shows. */
#define SHOWN 60

/* Numbers first, first + stride, … up to last. */
typedef struct range {
    unsigned first;
    unsigned last;
    unsigned stride;
} range;

/* One parse: where its results and its error go. */
typedef struct parser {
    apr_pool_t *p;
    const cpuset_scope *scope; /* NULL: syntax only */
    cpuset *set;
    const char **error;
    int past; /* the item's numbers past the machine have been reported */
} parser;

static apr_status_t free_set(void *data)
{
    hwloc_bitmap_free(data);
    return APR_SUCCESS;
}

static cpuset *own(apr_pool_t *p, cpuset *set)
{
    if (!set) {
        abort(); /* as APR's pools do when out of memory */
    }
    apr_pool_cleanup_register(p, set, free_set, apr_pool_cleanup_null);
    return set;
}

cpuset *cpuset_make(apr_pool_t *p)
{
    return own(p, hwloc_bitmap_alloc());
}

cpuset *cpuset_copy(apr_pool_t *p, const cpuset *set)
{
    return own(p, hwloc_bitmap_dup(set));
}

const char *cpuset_format(apr_pool_t *p, const cpuset *set)
{
    char *text;
    const char *copy;

    if (hwloc_bitmap_list_asprintf(&text, set) < 0) {
        abort();
    }
    copy = apr_pstrdup(p, text);
    free(text);
    return copy;
}

int cpuset_from_list(const char *text, cpuset *set)
{
    size_t length = strspn(text, "0123456789-,"), i, digits;
    char *list;
    int rc;

    hwloc_bitmap_zero(set);
    if (text[length + strspn(text + length, " \n")]) {
        return -1;
    }
    for (i = 0; i < length; i += digits ? digits : 1) {
        digits = strspn(text + i, "0123456789");
        if (digits > 7 || (digits && atol(text + i) > (long)NUMBER_MAX)) {
            return -1;
        }
    }
    if (!length) {
        return 0;
    }
    list = strndup(text, length);
    rc = list ? hwloc_bitmap_list_sscanf(set, list) : -1;
    free(list);
    return rc;
}

/* An item as messages show it: printable, and not longer than a line. */
static const char *show(parser *ps, const char *item)
{
    char *text = apr_pstrdup(ps->p, item);
    size_t i;

    for (i = 0; text[i]; i++) {
        if (!isprint((unsigned char)text[i])) {
            text[i] = '?';
        }
    }
    if (i > SHOWN) {
        memcpy(text + SHOWN - 3, "...", 4);
    }
    return text;
}

static int fail(parser *ps, const char *item, const char *reason)
{
    *ps->error = apr_psprintf(ps->p, "'%s' %s", show(ps, item), reason);
    return -1;
}

/* Parses decimal digits at *s and moves past them. */
static int parse_number(parser *ps, const char *item, const char **s,
                        unsigned *n)
{
    if (!isdigit((unsigned char)**s)) {
        return fail(ps, item,
                    **s ? "has something that is not a number"
                        : "lacks a number");
    }
    for (*n = 0; isdigit((unsigned char)**s); (*s)++) {
        *n = *n * 10 + (unsigned)(**s - '0');
        if (*n > NUMBER_MAX) {
            return fail(ps, item, "is too large a number");
        }
    }
    return 0;
}

/* "3", "0-7", "0-14:2", with nothing after it. */
static int parse_range(parser *ps, const char *item, const char *s, range *r)
{
    if (parse_number(ps, item, &s, &r->first)) {
        return -1;
    }
    r->last = r->first;
    r->stride = 1;
    if (*s == '-') {
        s++;
        if (parse_number(ps, item, &s, &r->last)) {
            return -1;
        }
        if (r->last < r->first) {
            return fail(ps, item, "is a reversed range");
        }
        if (*s == ':') {
            s++;
            if (parse_number(ps, item, &s, &r->stride)) {
                return -1;
            }
            if (r->stride == 0) {
                return fail(ps, item, "has a stride of 0");
            }
        }
    }
    return *s ? fail(ps, item, "has trailing text") : 0;
}

/* The machine does not have it. @return 0 if that is allowed, else -1 */
static int lacks(parser *ps, const char *reason)
{
    if (ps->scope->missing) {
        APR_ARRAY_PUSH(ps->scope->missing, const char *) = reason;
        return 0;
    }
    *ps->error = reason;
    return -1;
}

static int add_cpu(parser *ps, const char *item, unsigned cpu)
{
    int last = hwloc_bitmap_last(ps->scope->machine);

    if ((int)cpu <= last) {
        hwloc_bitmap_set(ps->set, cpu);
        return 0;
    }
    if (ps->past) {
        return 0;
    }
    ps->past = 1;
    return lacks(ps, apr_psprintf(ps->p,
                                  "'%s': there is no CPU %u, this machine's "
                                  "last is %d",
                                  show(ps, item), cpu, last));
}

/* Reads digits from the right, each worth a few bits. */
static int parse_mask(parser *ps, const char *item, const char *digits,
                      unsigned bits)
{
    size_t length = strlen(digits), i;

    if (!length) {
        return fail(ps, item, "lacks the digits of its mask");
    }
    if (length > MASK_DIGITS_MAX) {
        return fail(ps, item, "is too long a mask");
    }
    for (i = 0; i < length; i++) {
        char c = digits[length - 1 - i];
        unsigned value, b;

        if (bits == 1 ? c != '0' && c != '1' : !isxdigit((unsigned char)c)) {
            return fail(ps, item,
                        bits == 1 ? "has a digit that is not 0 or 1"
                                  : "has a digit that is not "
                                    "hexadecimal");
        }
        value = isdigit((unsigned char)c)
                    ? (unsigned)(c - '0')
                    : (unsigned)(tolower((unsigned char)c) - 'a') + 10;
        for (b = 0; ps->scope && b < bits; b++) {
            if (value >> b & 1 && add_cpu(ps, item, (unsigned)i * bits + b)) {
                return -1;
            }
        }
    }
    return strspn(digits, "0") == length ? fail(ps, item, "is an empty set")
                                         : 0;
}

static int add_range(parser *ps, const char *item)
{
    range r;
    unsigned n;

    if (parse_range(ps, item, item, &r)) {
        return -1;
    }
    for (n = r.first; ps->scope && n <= r.last; n += r.stride) {
        if (add_cpu(ps, item, n)) {
            return -1;
        }
    }
    return 0;
}

/* "+0-3": counts within the allowed CPUs. */
static int add_allowed(parser *ps, const char *item)
{
    range r;
    unsigned n, i = 0;
    int cpu = -1;

    if (parse_range(ps, item, item + 1, &r)) {
        return -1;
    }
    for (n = r.first; ps->scope && n <= r.last; n += r.stride) {
        for (; i <= n; i++) {
            cpu = hwloc_bitmap_next(ps->scope->allowed, cpu);
            if (cpu < 0) {
                return lacks(
                    ps, apr_psprintf(ps->p,
                                     "'%s': only %d CPUs are allowed "
                                     "(%s)",
                                     show(ps, item),
                                     hwloc_bitmap_weight(ps->scope->allowed),
                                     cpuset_format(ps->p, ps->scope->allowed)));
            }
        }
        hwloc_bitmap_set(ps->set, (unsigned)cpu);
    }
    return 0;
}

static int add_objects(parser *ps, const char *item, const char *kind,
                       const char *numbers)
{
    range r;
    unsigned n;
    const char *reason;

    if (parse_range(ps, item, numbers, &r)) {
        return -1;
    }
    for (n = r.first; ps->scope && n <= r.last; n += r.stride) {
        if (ps->scope->object(ps->scope->ctx, kind, n, ps->set, &reason)) {
            return lacks(ps, apr_psprintf(ps->p, "'%s': there is no %s %u, %s",
                                          show(ps, item), kind, n, reason));
        }
    }
    return 0;
}

static int add_netdev(parser *ps, const char *item, const char *name)
{
    const char *reason;

    size_t i = 0;

    while (isgraph((unsigned char)name[i]) && name[i] != '/') {
        i++;
    }
    if (!i || name[i] || i >= IFNAMSIZ || !strcmp(name, ".")
        || !strcmp(name, "..")) {
        return fail(ps, item, "does not name a network device");
    }
    if (ps->scope
        && ps->scope->netdev(ps->scope->ctx, name, ps->set, &reason)) {
        return lacks(ps,
                     apr_psprintf(ps->p, "'%s': %s", show(ps, item), reason));
    }
    return 0;
}

static int add_item(parser *ps, const char *item)
{
    static const char *const kinds[] = {"core", "l3", "numa", "package"};
    const char *colon = strchr(item, ':');
    size_t i;

    ps->past = 0;
    if (!*item) {
        *ps->error = "an element of the list is empty";
        return -1;
    }
    if (*item == '!') {
        return fail(ps, item, "has a '!' that is not at the beginning");
    }
    if (*item == '+') {
        return add_allowed(ps, item);
    }
    if (item[0] == '0' && (item[1] == 'x' || item[1] == 'X')) {
        return parse_mask(ps, item, item + 2, 4);
    }
    if (isdigit((unsigned char)*item)) {
        return add_range(ps, item);
    }
    if (!strncmp(item, "mask:", 5)) {
        return parse_mask(ps, item, item + 5, 1);
    }
    if (!strncmp(item, "netdev:", 7)) {
        return add_netdev(ps, item, item + 7);
    }
    for (i = 0; colon && i < sizeof(kinds) / sizeof(*kinds); i++) {
        if (strlen(kinds[i]) == (size_t)(colon - item)
            && !strncmp(item, kinds[i], (size_t)(colon - item))) {
            return add_objects(ps, item, kinds[i], colon + 1);
        }
    }
    return fail(ps, item,
                "is not a CPU, a range, a mask, +N, core:N, l3:N, "
                "numa:N, package:N or netdev:NAME");
}

int cpuset_parse(apr_pool_t *p, const char *text, const cpuset_scope *scope,
                 cpuset **set, const char **error)
{
    parser ps = {.p = p, .scope = scope, .error = error};
    int complement = *text == '!';
    const char *s = text + complement;

    ps.set = cpuset_make(p);
    for (;;) {
        size_t length = strcspn(s, ",");

        if (add_item(&ps, apr_pstrmemdup(p, s, length))) {
            return -1;
        }
        if (!s[length]) {
            break;
        }
        s += length + 1;
    }
    if (!scope) {
        return 0;
    }
    if (complement) {
        hwloc_bitmap_andnot(ps.set, scope->allowed, ps.set);
    }
    if (hwloc_bitmap_iszero(ps.set)
        && (!scope->missing || !scope->missing->nelts)
        && lacks(&ps,
                 apr_psprintf(p, "'%s' is an empty set", show(&ps, text)))) {
        return -1;
    }
    if (set) {
        *set = ps.set;
    }
    return 0;
}
