/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access_log_record: what a log line says of an answer of the loop. Plain data.
 */
#ifndef CPUAFFINITY_ACCESS_LOG_RECORD_H
#define CPUAFFINITY_ACCESS_LOG_RECORD_H

#include "httpd.h"

#include "handoff/handoff.h"
#include "http/request.h"

/* One answer. Everything is copied. */
typedef struct access_log_record {
    const server_rec *server; /* the vhost: lesson_server's */
    const addr *remote;
    const addr *local;
    const request *req;
    const char *head;   /* the request's bytes, req->consumed of them */
    const char *answer; /* the answer's head as it was sent */
    size_t answer_len;
    const char *path; /* the file */
    const char *env;  /* as in response */
    size_t env_len;
    apr_time_t start; /* wall clock, µs: the request was read */
    int status;       /* response_reply's */
    int message;      /* 1: no file was answered with; path is what was looked
                       * for, "" if nothing was */
    int64_t body;   /* bytes of the body that were sent, without chunks (%B) */
    int64_t sent;   /* all bytes that were sent (%O) */
    int keepalives; /* response_reply.keepalives */
    int keepalive;  /* response_reply.keepalive */
    int piped;      /* 1: its bytes were there when the answer before it was
                       done; mod_logio then counts one more for %I */
    int tls;        /* 1: the connection has TLS */
    int aborted;    /* 1: the client went away, or sending failed */
} access_log_record;

#endif
