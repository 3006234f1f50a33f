/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/htaccess_open.h"

#include "apr_strings.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "cache/cache_file.h"
#include "learn/file_id.h"
#include "learn/htaccess_text.h"
#include "learn/trace.h"
#include "learn/vhost.h"

/* Longer ones are httpd's. */
#define LONGEST 65536

static htaccess *of(const request_rec *r, trace *t)
{
    while (r->main) {
        r = r->main;
    }
    if (!t->access) {
        t->access = htaccess_make(r->pool);
    }
    return t->access;
}

static int read_all(int fd, char *bytes, size_t len)
{
    size_t done = 0;

    while (done < len) {
        ssize_t n = read(fd, bytes + done, len - done);

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return -1;
        }
        done += (size_t)n;
    }
    return 0;
}

/* The bytes of the file that @a st is of, by its descriptor. @return NULL: it
 * is another, or cannot be read */
static char *read_file(apr_pool_t *p, int fd, const struct stat *st)
{
    size_t len = (size_t)st->st_size;
    char *bytes = apr_palloc(p, len + 1);
    cache_file_id id;

    if (cache_file_identify(&id, st) || !cache_file_is_still(fd, &id)
        || read_all(fd, bytes, len) || !cache_file_is_still(fd, &id)) {
        return NULL;
    }
    bytes[len] = '\0';
    return bytes;
}

static char *read_path(apr_pool_t *p, const char *path, const struct stat *st)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    char *bytes;

    if (fd < 0) {
        return NULL;
    }
    bytes = read_file(p, fd, st);
    close(fd);
    return bytes;
}

/* There is a file: judged, httpd gets the bytes that were; else it opens the
 * file itself. */
static apr_status_t take_file(request_rec *r, htaccess *a, const char *path,
                              const struct stat *st, ap_configfile_t **file)
{
    const char *bytes, *why;

    if (!S_ISREG(st->st_mode) || st->st_size > LONGEST
        || watched_add(&a->on, path, st)
        || !(bytes = read_path(a->pool, path, st))) {
        trace_mark(r, REASON_HTACCESS, path);
        return AP_DECLINED;
    }
    if (!file_id_is_settled(st, r->request_time)) {
        trace_mark(r, REASON_YOUNG, path);
    }
    why =
        htaccess_text_judge(a, htaccess_file(a->pool, path, bytes, st->st_size),
                            r->server, bytes, (size_t)st->st_size);
    if (why) {
        trace_mark(r, REASON_HTACCESS, why);
        return AP_DECLINED;
    }
    *file = htaccess_file(r->pool, path, bytes, st->st_size);
    return APR_SUCCESS;
}

/* There is none. */
static apr_status_t take_absence(request_rec *r, htaccess *a, const char *path,
                                 int error)
{
    if (error == ENOTDIR) {
        APR_ARRAY_PUSH(a->leaves, const char *) = path;
    }
    else if (watched_add(&a->on, path, NULL)) {
        trace_mark(r, REASON_HTACCESS, "too many names");
        return AP_DECLINED;
    }
    return APR_FROM_OS_ERROR(error);
}

static int is_on(const request_rec *r)
{
    const vhost *s = vhost_of(r->server);

    return s && s->reads_htaccess;
}

apr_status_t htaccess_open(request_rec *r, const char *dir, const char *name,
                           ap_configfile_t **file, const char **full_name)
{
    trace *t = trace_of(r);
    struct stat st;
    const char *path;
    htaccess *a;

    if (!t || !is_on(r)) {
        return AP_DECLINED;
    }
    a = of(r, t);
    path = ap_make_full_path(a->pool, dir, name);
    APR_ARRAY_PUSH(a->dirs, const char *) = apr_pstrdup(a->pool, dir);
    *full_name = path;
    if (!stat(path, &st)) {
        return take_file(r, a, path, &st, file);
    }
    if (errno == ENOENT || errno == ENOTDIR) {
        return take_absence(r, a, path, errno);
    }
    trace_mark(r, REASON_HTACCESS, path);
    return AP_DECLINED;
}
