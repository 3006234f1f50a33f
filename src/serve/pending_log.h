/*
 * lines: the access-log lines of answers on their way: those of a batch, in
 * the loop's scratch memory, and those of a connection whose client is slow,
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
    accesslog_record record;
    request req;
    cache_entry *entry;        /* held: path and head are its */
    parcel_addr remote, local; /* of copies */
} line;

/* Of the batch that is being made. */
typedef struct lines {
    int needed;
    int n;
    apr_time_t start; /* when the bytes were read */
    int piped;        /* the request came with the one before it */
    line line[SEND_PARTS];
} lines;

/* Room for one more line? 1, or 0: let httpd answer. */
int lines_reserve(lines *ls);

/* The reserved line's answer could not be made after all. */
void lines_cancel(lines *ls);

/* The reserved line's answer is in the batch. @a head and @a made stay
 * where they are until one of the following is called. */
void lines_add(lines *ls, const conn *c, cache_entry *e, const server_rec *s,
               const request *req, const char *head, const char *made,
               const answer_reply *reply);

/* The last answer of the batch is its connection's last, which httpd finds
 * out after a body has left, but before anything else has. @a waits: some of
 * the answer has not left either */
void lines_close(lines *ls, int waits);

/* The batch has left but for its last @a left bytes, which never will unless
 * that is 0: the client has gone. */
void lines_end(lines *ls, cache *c, int64_t left);

/* The batch waits for its client: its lines as copies; NULL: none, or no
 * memory (then they have been written). */
line *lines_keep(lines *ls, cache *c);

/* The copies' answers have left but for the last @a left bytes, which never
 * will unless @a left is 0. Frees the copies. */
void lines_kept_end(cache *c, line *kept, int64_t left);

#endif
