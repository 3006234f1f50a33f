/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells who reads which field of a request: a line "object, tab, name" for
 * each look into a table that has the field X-Reads, "*" for all of it.
 * Appended to the file READS. Loaded into httpd by LD_PRELOAD.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of APR, as far as it matters here. */
typedef int visit(void *rec, const char *key, const char *value);
const char *apr_table_get(const void *table, const char *key);
const char *apr_table_getm(void *pool, const void *table, const char *key);
int apr_table_do(visit *each, void *rec, const void *table, ...);
int apr_table_vdo(visit *each, void *rec, const void *table, va_list names);
const void *apr_table_elts(const void *table);

static const char *(*get)(const void *, const char *);

static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

static int is_watched(const void *table)
{
    if (!get) {
        *(void **)&get = next("apr_table_get");
    }
    return table && get(table, "X-Reads");
}

static void tell(const void *table, const char *key, const void *caller)
{
    const char *file = getenv("READS"), *object;
    char line[300];
    Dl_info info;
    int fd, n;

    if (!file || !is_watched(table)) {
        return;
    }
    object = dladdr(caller, &info) && info.dli_fname ? info.dli_fname : "?";
    if (strrchr(object, '/')) {
        object = strrchr(object, '/') + 1;
    }
    n = snprintf(line, sizeof(line), "%s\t%s\n", object, key);
    fd = open(file, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd >= 0) {
        n = (int)write(fd, line, (size_t)n);
        close(fd);
    }
}

const char *apr_table_get(const void *table, const char *key)
{
    tell(table, key, __builtin_return_address(0));
    if (!get) {
        *(void **)&get = next("apr_table_get");
    }
    return get(table, key);
}

const char *apr_table_getm(void *pool, const void *table, const char *key)
{
    const char *(*real)(void *, const void *, const char *);

    tell(table, key, __builtin_return_address(0));
    *(void **)&real = next("apr_table_getm");
    return real(pool, table, key);
}

/* The names, or all. */
static void tell_names(const void *table, va_list names, const void *caller)
{
    const char *name = va_arg(names, const char *);

    if (!name) {
        tell(table, "*", caller);
    }
    for (; name; name = va_arg(names, const char *)) {
        tell(table, name, caller);
    }
}

static int real_vdo(visit *each, void *rec, const void *table, va_list names)
{
    int (*real)(visit *, void *, const void *, va_list);

    *(void **)&real = next("apr_table_vdo");
    return real(each, rec, table, names);
}

int apr_table_do(visit *each, void *rec, const void *table, ...)
{
    va_list names;
    int result;

    va_start(names, table);
    tell_names(table, names, __builtin_return_address(0));
    va_end(names);
    va_start(names, table);
    result = real_vdo(each, rec, table, names);
    va_end(names);
    return result;
}

int apr_table_vdo(visit *each, void *rec, const void *table, va_list names)
{
    va_list copy;

    va_copy(copy, names);
    tell_names(table, copy, __builtin_return_address(0));
    va_end(copy);
    return real_vdo(each, rec, table, names);
}

const void *apr_table_elts(const void *table)
{
    const void *(*real)(const void *);

    tell(table, "*", __builtin_return_address(0));
    *(void **)&real = next("apr_table_elts");
    return real(table);
}
