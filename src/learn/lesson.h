/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lesson: what came of a request that the loop left to httpd: an answer that
 * may be repeated, or why it may not. An encoded answer has its body with it,
 * but one of another process only its digest. Workers make lessons; the loop's
 * thread takes them (outbox).
 */
#ifndef CPUAFFINITY_LESSON_H
#define CPUAFFINITY_LESSON_H

#include "httpd.h"

#include <sys/stat.h>

#include "cache/watched.h"
#include "http/response.h"
#include "learn/conn_note.h"

typedef enum lesson_kind {
    LESSON_ANSWER, /* everything is filled in */
    LESSON_WIDEN,  /* its Vary names fields that are not in the key: only key
                      and vary are filled in */
    LESSON_304,    /* as LESSON_ANSWER, but unchanged instead of answer */
    LESSON_REFUSED /* may not be repeated: key, path, reason, status and
                      server.server. Posted only when the loop could have
                      answered, and would have been wrong, or when it asked
                      for a 304; learn has counted it */
} lesson_kind;

/* What is to be known of the vhost that answered: response_connection's. */
typedef struct lesson_server {
    const server_rec *server;
    int keep_alive;             /* 0, 1 */
    int keep_alive_max;         /* 0: no limit */
    int64_t keep_alive_timeout; /* microseconds, as its answers tell it */
    int64_t idle;               /* microseconds, as they count */
    int64_t timeout; /* microseconds for the client to take something */
    int sections;    /* 1: a SetEnvIf in a section applies */
    int no_sendfile; /* 1: EnableSendfile and EnableMMAP forbid it */
} lesson_server;

typedef struct lesson {
    struct lesson *next;
    uint8_t kind;    /* lesson_kind */
    uint8_t ask;     /* as in the note */
    uint8_t shared;  /* 1: nobody read the query */
    uint8_t cause;   /* cache_cause; with a message also digest */
    int reason;      /* reason_id, of LESSON_REFUSED; see learn.h */
    int status;      /* that was sent */
    uint64_t mask;   /* fields that the key was made with */
    uint64_t vary;   /* bits of the fields that the answer's Vary names */
    int64_t when;    /* CLOCK_MONOTONIC ms, when httpd made the answer */
    response answer; /* its head points behind the path */
    response_304 unchanged; /* the same */
    char *body;      /* encoded: answer.size bytes, from malloc; or NULL */
    uint64_t digest; /* of cache_path_look() */
    struct stat st;  /* of the descriptor that httpd sent */
    lesson_server server;
    uint16_t key_len;
    uint16_t key_base;        /* of it, without the query */
    const unsigned char *key; /* these point into this allocation */
    const char *path;         /* absolute; "" of CACHE_CAUSE_KEY */
    const char *watch; /* names that it depends on besides its file (watched) */
    uint16_t watch_len;
} lesson;

/*
 * A lesson for the note's key, from malloc, otherwise empty.
 * @param a with its head, copied; or NULL
 * @param path copied; or NULL
 * @param on names that it depends on, copied; or NULL
 * @return NULL without memory
 */
lesson *lesson_make(const conn_note *note, lesson_kind kind, const response *a,
                    const char *path, const watched *on);

/* The same for a 304, which is copied. */
lesson *lesson_make_304(const conn_note *note, const response_304 *u,
                        const char *path, const watched *on);

/* Any thread. */
void lesson_free(lesson *l);

#endif
