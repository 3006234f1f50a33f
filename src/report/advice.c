/* SPDX-License-Identifier: Apache-2.0 */
#include "report/advice.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));

    return s ? s : "";
}

/* Not below 0. */
static json_int_t number(const json_t *o, const char *key)
{
    json_int_t n = json_integer_value(json_object_get(o, key));

    return n > 0 ? n : 0;
}

static json_int_t add(json_int_t a, json_int_t b)
{
    return a > LLONG_MAX - b ? LLONG_MAX : a + b;
}

static void set_number(json_t *o, const char *key, json_int_t n)
{
    json_object_set_new(o, key, json_integer(n));
}

/* A row of the same meaning is counted up; @a row is taken. */
static void put(json_t *rows, const char *server, json_t *row)
{
    char *key = NULL;
    json_t *have;

    if (row
        && asprintf(&key, "%s\n%s\n%s\n%s\n%s", text(row, "kind"),
                    text(row, "rule"), text(row, "what"), text(row, "section"),
                    text(row, "where"))
               < 0) {
        key = NULL;
    }
    have = key ? json_object_get(rows, key) : NULL;
    if (have) {
        set_number(have, "requests",
                   add(number(have, "requests"), number(row, "requests")));
        if (strcmp(text(have, "server"), server) != 0) {
            set_number(have, "servers", add(number(have, "servers"), 1));
            json_object_set_new(have, "server", json_string(server));
        }
    }
    else if (key) {
        json_object_set_new(row, "server", json_string(server));
        set_number(row, "servers", 1);
        json_object_set(rows, key, row);
    }
    free(key);
    json_decref(row);
}

static json_t *make_row(const char *kind, const char *rule, const char *what,
                        const char *advice, json_int_t requests)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:I, s:s, s:s, s:s, s:i}", "kind",
                     kind, "rule", rule, "what", what, "advice", advice,
                     "requests", requests, "section", "", "where", "", "file",
                     "", "line", 0);
}

static void set_place(json_t *row, const json_t *o)
{
    json_int_t line = number(o, "line");
    char *where;

    json_object_set_new(row, "section", json_string(text(o, "section")));
    if (row && *text(o, "file")
        && asprintf(&where, "%s:%" JSON_INTEGER_FORMAT, text(o, "file"), line)
               >= 0) {
        json_object_set_new(row, "where", json_string(where));
        json_object_set_new(row, "file", json_string(text(o, "file")));
        set_number(row, "line", line);
        free(where);
    }
}

static json_t *obstacle_row(const json_t *o)
{
    json_t *row = make_row("obstacle", text(o, "rule"), text(o, "what"),
                           text(o, "advice"), number(o, "requests"));

    set_place(row, o);
    return row;
}

static void add_server(json_t *rows, const json_t *server)
{
    const char *name = text(server, "server");
    json_t *o;
    size_t i;

    json_array_foreach(json_object_get(server, "obstacles"), i, o)
    {
        if (number(o, "requests")) {
            put(rows, name, obstacle_row(o));
        }
    }
    json_array_foreach(json_object_get(server, "causes"), i, o)
    {
        if (number(o, "requests")) {
            put(rows, name,
                make_row(text(o, "kind"), text(o, "name"), text(o, "text"),
                         text(o, "advice"), number(o, "requests")));
        }
    }
}

#define OFF                                                                    \
    "FixedStatic", "FixedStatic is not on here",                               \
        "FixedStatic on where files are served"

/* {key: row} of all servers. */
static json_t *all_rows(const json_t *learning)
{
    json_t *rows = json_object(), *server;
    json_int_t elsewhere =
        number(json_object_get(learning, "requests"), "elsewhere");
    size_t i;

    json_array_foreach(json_object_get(learning, "servers"), i, server)
    {
        add_server(rows, server);
    }
    if (elsewhere) {
        put(rows, "other virtual hosts", make_row("off", OFF, elsewhere));
    }
    return rows;
}

/* What no request has met because another obstacle is in front of it. */
static json_t *behind(const json_t *learning)
{
    json_t *rows = json_object(), *list = json_array(), *server, *o, *row;
    const char *key;
    size_t i, j;

    json_array_foreach(json_object_get(learning, "servers"), i, server)
    {
        json_array_foreach(json_object_get(server, "obstacles"), j, o)
        {
            if (!strcmp(text(server, "state"), "off") && !number(o, "requests")
                && json_is_true(json_object_get(o, "covers"))) {
                put(rows, text(server, "server"), obstacle_row(o));
            }
        }
    }
    json_object_foreach(rows, key, row)
    {
        json_array_append(list, row);
    }
    json_decref(rows);
    return list;
}

/* Takes away what had been counted before. */
static void subtract(json_t *rows, json_t *old)
{
    const char *key;
    json_t *row;

    json_object_foreach(rows, key, row)
    {
        json_int_t was = number(json_object_get(old, key), "requests");
        json_int_t n = number(row, "requests");

        set_number(row, "requests", n > was ? n - was : 0);
    }
}

static int is_restarted(const json_t *now, const json_t *before)
{
    return number(now, "generation") != number(before, "generation")
           || number(now, "since") != number(before, "since");
}

/* The most expensive first; then by what does not change. */
static int compare(const void *a, const void *b)
{
    const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
    json_int_t m = number(x, "requests"), n = number(y, "requests");
    int c;

    if (m != n) {
        return m > n ? -1 : 1;
    }
    c = strcmp(text(x, "what"), text(y, "what"));
    return c ? c : strcmp(text(x, "where"), text(y, "where"));
}

/* Rows in order: those of "learn", or all others. */
static json_t *sorted(const json_t *rows, json_int_t all, int learning)
{
    json_t **list = calloc(json_object_size(rows) + 1, sizeof(json_t *));
    json_t *result = json_array(), *row;
    const char *key;
    size_t n = 0, i;

    json_object_foreach((json_t *)rows, key, row)
    {
        if (list && number(row, "requests")
            && (strcmp(text(row, "kind"), "learn") == 0) == learning) {
            list[n++] = row;
        }
    }
    if (n) {
        qsort(list, n, sizeof(*list), compare);
    }
    for (i = 0; i < n; i++) {
        json_object_set_new(
            list[i], "share",
            json_real(100.0 * (double)number(list[i], "requests")
                      / (double)all));
        json_array_append(result, list[i]);
    }
    free(list);
    return result;
}

static json_int_t sum(const json_t *rows)
{
    json_int_t n = 0;
    const char *key;
    json_t *row;

    json_object_foreach((json_t *)rows, key, row)
    {
        n = add(n, number(row, "requests"));
    }
    return n;
}

static const json_t *learning_of(const json_t *status, const char **why)
{
    const json_t *learning = json_object_get(status, "learning");

    if (!json_is_object(status) || !json_object_get(status, "seats")) {
        *why = "it is not the status of mod_cpuaffinity (?json)";
        return NULL;
    }
    if (!json_is_object(learning)) {
        *why = "FixedStatic is not on anywhere in that server";
        return NULL;
    }
    if (!json_is_object(json_object_get(learning, "requests"))) {
        *why = "its mod_cpuaffinity does not count the causes yet";
        return NULL;
    }
    return learning;
}

json_t *advice_make(const json_t *status, const json_t *before,
                    const char **why)
{
    const json_t *now = learning_of(status, why);
    const json_t *old = before && now ? learning_of(before, why) : NULL;
    json_int_t loop, was, httpd, all;
    json_t *rows, *result;
    int restarted;

    if (!now || (before && !old)) {
        return NULL;
    }
    *why = "no memory";
    restarted = old && is_restarted(now, old);
    rows = all_rows(now);
    loop = number(json_object_get(now, "requests"), "loop");
    if (old && !restarted) {
        json_t *rows_before = all_rows(old);

        subtract(rows, rows_before);
        json_decref(rows_before);
        was = number(json_object_get(old, "requests"), "loop");
        loop = loop > was ? loop - was : 0;
    }
    httpd = sum(rows);
    all = add(loop, httpd);
    result = json_pack(
        "{s:I, s:I, s:b, s:b, s:b, s:{s:I, s:I, s:I}, s:o, s:o, s:o}",
        "generation", number(now, "generation"), "since", number(now, "since"),
        "restarted", restarted, "later", old && !restarted, "few",
        all < ADVICE_FEW, "requests", "loop", loop, "httpd", httpd, "all", all,
        "costs", sorted(rows, all, 0), "learning", sorted(rows, all, 1),
        "behind", behind(now));
    json_decref(rows);
    return result;
}
