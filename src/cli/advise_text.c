/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/advise_text.h"

#include <string.h>
#include <time.h>

#include <apr_strings.h>

#define LONGEST 600 /* bytes of a text that are shown */
#define ESCAPED 10  /* what one character becomes at most */

/* What must not reach a terminal, beside controls. */
static const struct {
    unsigned first;
    unsigned last;
} hidden[] = {
    {0x0000, 0x001f}, {0x007f, 0x009f}, {0x061c, 0x061c},
    {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},
    {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff},
};

static int is_hidden(unsigned c)
{
    size_t i;

    for (i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++) {
        if (c >= hidden[i].first && c <= hidden[i].last) {
            return 1;
        }
    }
    return 0;
}

/* One character; a byte that begins none is itself and a control.
 * @return its bytes */
static size_t decode(const unsigned char *s, unsigned *c)
{
    size_t len = *s < 0x80                  ? 1
                 : *s >= 0xc2 && *s < 0xe0  ? 2
                 : *s >= 0xe0 && *s < 0xf0  ? 3
                 : *s >= 0xf0 && *s <= 0xf4 ? 4
                                            : 0;
    size_t i;

    *c = len > 1 ? *s & (0x7fu >> len) : *s;
    for (i = 1; i < len; i++) {
        if ((s[i] & 0xc0) != 0x80) {
            len = 0;
            break;
        }
        *c = *c << 6 | (s[i] & 0x3fu);
    }
    if (!len) {
        *c = 0x80;
    }
    return len ? len : 1;
}

const char *advise_text_safe(apr_pool_t *p, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    char *out = apr_palloc(p, LONGEST + ESCAPED + sizeof("...")), *to = out;

    while (*s && to < out + LONGEST) {
        unsigned c;
        size_t len = decode(s, &c);

        if (!is_hidden(c)) {
            memcpy(to, s, len);
            to += len;
        }
        else if (c < 0x100) {
            to += apr_snprintf(to, ESCAPED, "\\x%02x", len == 1 ? *s : c);
        }
        else {
            to += apr_snprintf(to, ESCAPED, "\\u%04x", c);
        }
        s += len;
    }
    memcpy(to, *s ? "..." : "", *s ? 4 : 1);
    return out;
}

static const char *text(apr_pool_t *p, const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));

    return advise_text_safe(p, s ? s : "");
}

static long long number(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

static const char *when(apr_pool_t *p, time_t seconds)
{
    struct tm tm;
    char buf[64];

    return localtime_r(&seconds, &tm)
                   && strftime(buf, sizeof(buf), "%Y-%m-%d %H:%M:%S", &tm)
               ? apr_pstrdup(p, buf)
               : "its start";
}

static double share(long long n, long long of)
{
    return of > 0 ? 100.0 * (double)n / (double)of : 0;
}

static void print_head(apr_pool_t *p, FILE *out, const json_t *advice)
{
    const json_t *requests = json_object_get(advice, "requests");
    long long all = number(requests, "all");
    int later = json_is_true(json_object_get(advice, "later"));

    if (json_is_true(json_object_get(advice, "restarted"))) {
        fputs("httpd was restarted after the earlier status: only what came "
              "after that counts.\n",
              out);
    }
    fprintf(out,
            "%lld requests since %s: the loop answered %.1f %%, httpd's "
            "threads %.1f %%.\n",
            all,
            later ? "the earlier status"
                  : when(p, (time_t)number(advice, "since")),
            share(number(requests, "loop"), all),
            share(number(requests, "httpd"), all));
    if (json_is_true(json_object_get(advice, "few"))) {
        fputs("These are too few to tell what is expensive.\n", out);
    }
}

/* "not recognised (field): " */
static const char *prefix(apr_pool_t *p, const json_t *row)
{
    return !strcmp(text(p, row, "kind"), "request")
               ? apr_psprintf(p, "not recognised (%s): ", text(p, row, "rule"))
               : "";
}

/* Rule, section and server, as far as they say something. */
static void print_where(apr_pool_t *p, FILE *out, const json_t *row)
{
    const char *kind = text(p, row, "kind"), *section = text(p, row, "section");

    fputs("    ", out);
    if (!strcmp(kind, "rule") || !strcmp(kind, "obstacle")) {
        fprintf(out, "%s, ", text(p, row, "rule"));
    }
    if (*section && strcmp(section, "server") != 0) {
        fprintf(out, "%s, ", section);
    }
    if (number(row, "servers") > 1) {
        fprintf(out, "%lld virtual hosts", number(row, "servers"));
    }
    else {
        fputs(text(p, row, "server"), out);
    }
    fprintf(out, "; change: %s\n", text(p, row, "advice"));
}

static void print_more(FILE *out, size_t n)
{
    if (n) {
        fprintf(out, "... and %lu more (--all)\n", (unsigned long)n);
    }
}

static void print_row(apr_pool_t *p, FILE *out, const json_t *row)
{
    const char *where = text(p, row, "where");

    fprintf(out, "%.1f %% of requests: %s%s%s%s\n",
            json_real_value(json_object_get(row, "share")), prefix(p, row),
            text(p, row, "what"), *where ? ", " : "", where);
    print_where(p, out, row);
}

static void print_behind(apr_pool_t *p, FILE *out, const json_t *list,
                         size_t most)
{
    size_t n = json_array_size(list), i;

    most = most && most < n ? most : n;
    if (n) {
        fputs("\nBehind these, once they are gone:\n", out);
    }
    for (i = 0; i < most; i++) {
        const json_t *row = json_array_get(list, i);
        const char *where = text(p, row, "where");

        fprintf(out, "%s%s%s\n", text(p, row, "what"), *where ? ", " : "",
                where);
        print_where(p, out, row);
    }
    print_more(out, n - most);
}

static void print_learning(apr_pool_t *p, FILE *out, const json_t *list)
{
    json_t *row;
    size_t i;

    if (json_array_size(list)) {
        fputs("\nAsked of httpd in order to learn, nothing is to be changed:\n",
              out);
    }
    json_array_foreach(list, i, row)
    {
        fprintf(out, "%.1f %% of requests: %s\n",
                json_real_value(json_object_get(row, "share")),
                text(p, row, "what"));
    }
}

void advise_text_print(apr_pool_t *p, FILE *out, const json_t *advice,
                       size_t most)
{
    const json_t *costs = json_object_get(advice, "costs");
    size_t n = json_array_size(costs), shown = most && most < n ? most : n, i;

    print_head(p, out, advice);
    fputs(n ? "\n" : "Nothing else keeps requests from it.\n", out);
    for (i = 0; i < shown; i++) {
        print_row(p, out, json_array_get(costs, i));
    }
    print_more(out, n - shown);
    print_behind(p, out, json_object_get(advice, "behind"), most);
    print_learning(p, out, json_object_get(advice, "learning"));
}
