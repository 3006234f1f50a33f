/* SPDX-License-Identifier: Apache-2.0 */
/*
 * htaccess: which .htaccess files httpd has asked for to answer a request that
 * may be learned, and what they say. httpd is given the very bytes that were
 * judged, or is told that there is no such file (htaccess_open); each name is
 * noted with its outcome, to be watched. Worker threads. Internal to learn.
 */
#ifndef CPUAFFINITY_HTACCESS_H
#define CPUAFFINITY_HTACCESS_H

#include "httpd.h"
#include "http_config.h"

#include "cache/watched.h"
#include "learn/reason.h"

typedef struct htaccess {
    apr_pool_t *pool;           /* of the main request */
    watched on;                 /* names that were asked for */
    apr_array_header_t *dirs;   /* const char *: where, as httpd names them */
    apr_array_header_t *leaves; /* const char *: a name below what is no
                                   directory */
    /* What the files say, all together. */
    int plain;         /* 1: validators are touched */
    int rewritten;     /* 1: conditions or ranges of requests are */
    const char *index; /* the first name of each DirectoryIndex; "": they are
                          not the same; NULL: there is none */
    apr_array_header_t *variables; /* const char *: set by what is in the key */
} htaccess;

/* Nothing was asked for yet. */
htaccess *htaccess_make(apr_pool_t *p);

/* Bytes that httpd reads as it reads a file, from @a p; not copied. */
ap_configfile_t *htaccess_file(apr_pool_t *p, const char *path,
                               const char *bytes, size_t len);

/*
 * R1: is all known that httpd looked for? Completes the names to be watched.
 * @param a NULL: nothing was asked for
 * @return REASON_OK or REASON_HTACCESS with @a detail
 */
reason_id htaccess_judge(const request_rec *r, htaccess *a,
                         const char **detail);

/* May the first name that counts for the directory be another than this? */
int htaccess_changes_index(const htaccess *a, const char *name);

/* Is it a variable that a file sets by what is in the key? */
int htaccess_is_in_key(const htaccess *a, const char *variable);

/* Is everything still as it was when it was asked for? A few system calls. */
int htaccess_is_still(const htaccess *a);

#endif
