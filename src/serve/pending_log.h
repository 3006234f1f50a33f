/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pending_log: the access-log lines of answers on their way: those of a batch,
 * in the loop's scratch memory, and those of a connection whose client is slow,
 * as copies. A line is written when its answer has left or failed, as httpd
 * does. Nothing of it happens where no log is configured. Loop thread only.
 */
#ifndef CPUAFFINITY_PENDING_LOG_H
#define CPUAFFINITY_PENDING_LOG_H

#include "log/access_log.h"
#include "http/response.h"
#include "cache/cache.h"
#include "loop/conn.h"
#include "serve/send.h"

typedef struct line {
    struct line *next; /* of copies */
    access_log_record record;
    request req;
    cache_entry *entry; /* held: path and head are its */
    addr remote, local; /* of copies */
} line;

/* Of the batch that is being made. */
typedef struct pending_log {
    int needed;
    int n;
    apr_time_t start; /* when the bytes were read */
    int piped;        /* the request came with the one before it */
    line line[SEND_PARTS];
} pending_log;

/* Keeps room for one more line. @return 0, or -1: let httpd answer */
int pending_log_reserve(pending_log *ls);

/* The reserved line's answer could not be made after all. */
void pending_log_cancel(pending_log *ls);

/* The reserved line's answer is in the batch. @a head and @a made stay
 * where they are until one of the following is called. */
void pending_log_add(pending_log *ls, const conn *c, cache_entry *e,
                     const server_rec *s, const request *req, const char *head,
                     const char *made, const response_reply *reply);

/* The last answer of the batch is its connection's last, which httpd finds
 * out after a body has left, but before anything else has. @a waits: some of
 * the answer has not left either */
void pending_log_close(pending_log *ls, int waits);

/* The batch has left but for its last @a left bytes, which never will unless
 * that is 0: the client has gone. */
void pending_log_end(pending_log *ls, cache *c, int64_t left);

/* The batch waits for its client: its lines as copies; NULL: none, or no
 * memory (then they have been written). */
line *pending_log_keep(pending_log *ls, cache *c);

/* The copies' answers have left but for the last @a left bytes, which never
 * will unless @a left is 0. Frees the copies. */
void pending_log_kept_end(cache *c, line *kept, int64_t left);

#endif
