/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_format: which access logs a server has, and whether their lines can be
 * written for an answer of the loop just as httpd writes them (access_log).
 * What may stand in a format is a list, each with its reason; whatever else
 * does is httpd's to write. Configuration time. Internal to learn and
 * access_log.
 */
#ifndef CPUAFFINITY_LOG_FORMAT_H
#define CPUAFFINITY_LOG_FORMAT_H

#include "apr_tables.h"

#include "conf/tree.h"

void log_format_reset(apr_pool_t *p);

/* Takes a directive in; one that is not about access logs does nothing. All of
 * them before the first log_format_judge(). */
void log_format_add(const tree_place *at);

typedef struct log_format_verdict {
    const char *refuse; /* the directive, its place and the item that only
                           httpd can write; NULL: none */
    const ap_directive_t *node;    /* that directive */
    apr_array_header_t *variables; /* const char *: the environment variables
                                    * that lines depend on, some twice */
    int id;   /* lines show whether the error log has some */
    int read; /* lines show how many bytes were read */
    int sent; /* or sent */
} log_format_verdict;

/* The logs of one server, those that it may inherit included. Text is from
 * log_format_reset()'s pool. */
void log_format_judge(const server_rec *s, log_format_verdict *out);

/* Which fields the formats show: of requests, of answers. */
#define LOG_FORMAT_IN 1
#define LOG_FORMAT_OUT 2
int log_format_fields(void);

/* 1 when some format, used or not, shows that field of requests (any case).
 * After log_format_add(). */
int log_format_shows(const char *field);

/* 1 when there is an access log at all. Any thread after configuration. */
int log_format_has_any(void);

#endif
