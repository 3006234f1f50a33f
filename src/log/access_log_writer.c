/* SPDX-License-Identifier: Apache-2.0 */
#include "log/access_log_writer.h"

#include "apr_optional.h"
#include "mod_log_config.h"

#include <limits.h>
#include <string.h>

/* What a pipe takes atomically: mod_log_config's own bound. */
#define SIZE PIPE_BUF
/* Logs that are gathered side by side; others are written line by line. */
#define LOGS 8

typedef struct batch {
    void *handle; /* the log's, of the writer; NULL: free */
    apr_size_t len;
    char bytes[SIZE];
} batch;

static ap_log_writer *before; /* set before the thread exists */
static __thread batch *batches;
static batch gathered[LOGS];

static apr_status_t write_batch(request_rec *r, batch *b)
{
    const char *bytes = b->bytes;
    int len = (int)b->len;

    if (!len) {
        return APR_SUCCESS;
    }
    b->len = 0;
    return before(r, b->handle, &bytes, &len, 1, (apr_size_t)len);
}

static batch *find(void *handle)
{
    int i;

    for (i = 0; i < LOGS; i++) {
        if (!batches[i].handle) {
            batches[i].handle = handle;
        }
        if (batches[i].handle == handle) {
            return &batches[i];
        }
    }
    return NULL;
}

static apr_status_t writer(request_rec *r, void *handle, const char **portions,
                           int *lengths, int n, apr_size_t len)
{
    batch *b = batches && handle ? find(handle) : NULL;
    apr_status_t rv = APR_SUCCESS;
    int i;

    if (b && len > SIZE - b->len) {
        rv = write_batch(r, b);
    }
    if (!b || len > SIZE) {
        return before(r, handle, portions, lengths, n, len);
    }
    for (i = 0; i < n; i++) {
        memcpy(b->bytes + b->len, portions[i], (apr_size_t)lengths[i]);
        b->len += (apr_size_t)lengths[i];
    }
    return rv;
}

void access_log_writer_install(void)
{
    APR_OPTIONAL_FN_TYPE(ap_log_set_writer) *set =
        APR_RETRIEVE_OPTIONAL_FN(ap_log_set_writer);

    if (set) {
        before = set(writer);
    }
}

void access_log_writer_begin(void)
{
    if (before) {
        batches = gathered;
    }
}

void access_log_writer_flush(request_rec *r)
{
    int i;

    for (i = 0; batches && i < LOGS && batches[i].handle; i++) {
        write_batch(r, &batches[i]);
    }
}
