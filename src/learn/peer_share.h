/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer_share: shares what one process has learned from httpd with the others of
 * its generation, so that only one of them has to ask httpd. To the process
 * that reads it, it is a lesson like those that its own workers post: an answer
 * lives no longer, and becomes live by agreeing with another one (R8). It comes
 * from memory that all children write: each number is checked, and the captured
 * head is taken apart anew.
 */
#ifndef CPUAFFINITY_PEER_SHARE_H
#define CPUAFFINITY_PEER_SHARE_H

#include <sys/uio.h>

#include "learn/lesson.h"

/* Makes the shared ring of this generation; children inherit it by fork.
 * Without it everything works, but nothing is shared. Parent, post_config.
 * @return 0, -1 with errno */
int peer_share_make(apr_pool_t *pconf);

/* Reads only what is posted from now on. Child, before its threads. */
void peer_share_follow(void);

/* Posts a lesson to the other processes; it stays the caller's. Never waits;
 * what does not fit is not posted, which only costs speed. Any worker. */
void peer_share_post(const lesson *l);

/*
 * Reads the next message. Loop thread.
 * @param said the lesson, valid until the next call; NULL when the message
 *        is passed over: this process's own, too old, or not understood
 * @return 1, or 0: there is none now
 */
int peer_share_read(lesson **said);

/*
 * Takes a message apart. Pure.
 * @param len of it, any; it need not be aligned
 * @param now CLOCK_MONOTONIC ms
 * @param out what it says, key and path pointing into @a bytes
 * @param head receives what out->answer points to
 * @return 0, or -1: not as peer_share_post() writes it, or not of the last
 *         CACHE_AGE milliseconds
 */
int peer_share_parse(const char *bytes, size_t len, int64_t now, lesson *out,
                     char head[RESPONSE_HEAD]);

/*
 * The message of a lesson. Pure.
 * @param fixed receives the part of fixed length, PEER_SHARE_FIXED bytes
 * @param parts receives the whole: fixed, key, path, head, environment
 */
#define PEER_SHARE_FIXED 384
#define PEER_SHARE_PARTS 6
void peer_share_write(const lesson *l, char fixed[PEER_SHARE_FIXED],
                      struct iovec parts[PEER_SHARE_PARTS]);

#endif
