/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture: the body of a compressed answer as it is sent, chunks included, for
 * one whose head was judged and found fit. Nothing is held back from the
 * client. Worker threads. Internal to learn.
 */
#ifndef CPUAFFINITY_CAPTURE_H
#define CPUAFFINITY_CAPTURE_H

#include "httpd.h"
#include "util_filter.h"

#include "http/response.h"

/* A longer body is not learned. */
#define CAPTURE_MOST (1024 * 1024)
/* Nor one that would make those that a process captures longer than this. */
#define CAPTURE_ALL (8 * 1024 * 1024)

typedef struct capture {
    response answer; /* with its head, without its body */
    uint64_t vary;
    int64_t when; /* CLOCK_MONOTONIC ms: of the head; its client may be slow */
    char *body;   /* from malloc */
    size_t len;
    size_t room;
    int whole;         /* 1: the end has come, and all before it is here */
    int lack;          /* 1: error says that there was no memory */
    const char *error; /* why it cannot be learned; or NULL */
} capture;

/* Makes the secret of capture_digest(). Parent, post_config. @return 0, or -1
 * with errno: nothing that is compressed is to be learned */
int capture_init(void);

/* Begins one for an answer, which is copied; of the request's pool, with its
 * body. NULL: nothing compressed is learned. */
capture *capture_make(request_rec *r, const response *a, uint64_t vary);

/* Copies what there is of the body from bucket @a e on; the brigade stays as
 * it is. @return 1: no more is wanted */
int capture_take(capture *c, apr_bucket_brigade *bb, apr_bucket *e);

/* Gives back the memory that the whole body does not need. */
void capture_trim(capture *c);

/* Gives the body away: the caller's to free(); NULL when there is none. */
char *capture_release(capture *c);

/* Frees it before the request ends, which may wait for its client. */
void capture_drop(capture *c);

/* 128 bits of all bytes, keyed by a secret of the generation: what another
 * process says of a body can be compared, and nobody can make two bodies with
 * the same. */
void capture_digest(const char *bytes, size_t len, uint64_t digest[2]);

#endif
