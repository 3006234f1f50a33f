/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace: what happened to one request that httpd answers and that may be
 * learned. Hooks and filters note it here; rule judges it. A request
 * without a note from the loop has no trace, and nothing is done for it.
 * Worker threads. Internal to learn.
 */
#ifndef CPUAFFINITY_TRACE_H
#define CPUAFFINITY_TRACE_H

#include "httpd.h"
#include "http_config.h"

#include <sys/stat.h>

#include "cache/cache_entry.h"
#include "learn/capture.h"
#include "learn/lesson.h"
#include "learn/reason.h"

typedef struct trace {
    const conn_note *note;
    reason_id reason;   /* the first that forbids; REASON_OK: none so far */
    const char *detail; /* what it was: a name; or NULL */
    struct htaccess *access;       /* .htaccess files asked for; NULL: none */
    const char *mapped;            /* r->filename when it had been mapped */
    const ap_conf_vector_t *asked; /* r->per_dir_config by then */
    int defaulted;      /* 1: the handlers have all declined but core's */
    int whole;          /* 1: one FILE bucket over the file, and the end */
    struct stat st;     /* of that bucket's descriptor */
    response_base base; /* what conditions were judged by */
    const char *filter; /* that may compress, in the chain; or NULL */
    int clocked;        /* 1: mod_expires' filter was in the chain */
    const char *coding; /* by which one has; or NULL */
    int sourced;        /* 1: as whole, but into the first of those filters */
    struct stat source; /* of that descriptor, before its first byte is read */
    int fixed;          /* 1: fixups ran */
    int written;        /* 1: the body is httpd's own message */
    cache_cause cause;  /* of a message: CACHE_CAUSE_FILE otherwise */
    uint64_t digest;    /* with it */
    capture *capture;   /* of the body, when the head is fit; or NULL */
    size_t head_len;    /* bytes of the head that were seen */
    char head[RESPONSE_HEAD];
} trace;

/* The trace of a request, or NULL. Subrequests share the main request's;
 * redirected requests have none. */
trace *trace_of(const request_rec *r);

/* Has a section a SetEnvIf that applied to the request, as it was asked or as
 * mod_dir went on with it? */
int trace_looks(const request_rec *r, const trace *t);

/* Notes that a reason forbids learning the request (or the request that this
 * is a subrequest of). @a detail has to live as long as the request. */
void trace_mark(const request_rec *r, reason_id reason, const char *detail);

#endif
