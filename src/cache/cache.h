/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache: the answers that one loop may repeat. Keys are bytes (request_key);
 * a value is an answer and a file, shared by all keys of the same file, as a
 * copy in memory or an open descriptor. Bounded in entries, memory,
 * descriptors and keys per file; two segments, so that a flood of keys seen
 * once pushes itself out first. One thread only, no locks; nothing is
 * allocated on a hit. No httpd header is needed.
 */
#ifndef CPUAFFINITY_CACHE_H
#define CPUAFFINITY_CACHE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "cache/cache_entry.h"

/* A cache, or NULL (no memory, or no entry allowed). */
cache *cache_make(const cache_config *config);

/* Frees it and all that nobody holds; no entry may be held any more. */
void cache_free(cache *c);

/* The entry of a key, or NULL: its own, or that of its path where that was
 * learned for this query, or stands for all. O(1). It counts as used now. Valid
 * until the next call on @a c, unless held. */
cache_entry *cache_find(cache *c, const cache_key *key);

/*
 * 1 when @a e may be repeated at @a now (milliseconds of a monotonic clock):
 * live, not older than CACHE_AGE, its file unchanged, and all else that it
 * depends on. After the configured time the path is opened again, and other
 * names are looked at (a few system calls, no wait for the network or a FIFO):
 * all of dev, ino, mode, owner, size, mtime and ctime are compared. Before
 * that, only a file sent from its descriptor is looked at (one fstat). 0: let
 * httpd answer, and do not touch @a e any more (a stale entry is gone; an
 * expired one waits for httpd's next answer).
 */
int cache_may_use(cache *c, cache_entry *e, int64_t now);

/* The next cache_may_use() looks at the file, however lately it was looked at.
 * */
void cache_distrust(cache_entry *e);

/*
 * 1 when httpd should give @a e again before it expires: httpd's answer to this
 * one request is to be learned, while others still get the cached one. Only for
 * an entry for which cache_may_use() just said 1.
 */
int cache_is_due(cache_entry *e, int64_t now);

/* Keeps an entry's answer and file alive while they are being sent. Only for
 * an entry for which cache_may_use() just said 1. */
void cache_hold(cache_entry *e);

/* Gives up one cache_hold(); frees the entry when it was pushed out. */
void cache_release(cache *c, cache_entry *e);

/*
 * Notes that httpd gave answer @a a for the key. Where nobody read the query
 * it is the path's, which stands for all queries from when two answers agreed
 * whose queries differ (or one of which had none), and for the only one seen
 * until then.
 * @param path absolute, the file of the answer
 * @param st fstat of the descriptor that httpd sent
 * @param now milliseconds, monotonic, when httpd made the answer
 * @param tag config.tag_size bytes, for the caller; not looked at
 * Everything is copied. A copy of the file in memory that was read before
 * @a now is compared with the file, so that neither head nor bytes get older
 * than CACHE_AGE, whatever the file's times say.
 * An encoded answer's body is a filter's output and not the file. It agrees
 * with the one before when its digest is the same; where two keys of a file
 * share a body, or there is one already, bytes are compared.
 * @param body of a->size bytes, from malloc; taken and set to NULL when it is
 *        kept. NULL: another process has it, or the answer is the file. Then
 *        an encoded one counts as one that agrees or does not, but what has no
 *        body here does not become live
 * @param watch names that the answer depends on besides its file (watched), of
 *        @a watch_len bytes: answers with others do not agree
 */
cache_outcome cache_learn_watched(cache *c, const cache_key *key,
                                  const response *a, const char *path,
                                  const struct stat *st, int64_t now,
                                  const void *tag, char **body,
                                  const char *watch, size_t watch_len);

static inline cache_outcome cache_learn_body(cache *c, const cache_key *key,
                                             const response *a,
                                             const char *path,
                                             const struct stat *st, int64_t now,
                                             const void *tag, char **body)
{
    return cache_learn_watched(c, key, a, path, st, now, tag, body, NULL, 0);
}

static inline cache_outcome cache_learn(cache *c, const cache_key *key,
                                        const response *a, const char *path,
                                        const struct stat *st, int64_t now,
                                        const void *tag)
{
    return cache_learn_body(c, key, a, path, st, now, tag, NULL);
}

/*
 * Notes that httpd gave a message (RESPONSE_MESSAGE) for the key. Those never
 * take more than a tenth of the entries, and push out only each other and
 * entries on trial.
 * @param cause not CACHE_CAUSE_FILE
 * @param path what httpd looked for; "": it did not look
 * @param digest of cache_path_look(), after httpd's answer
 * @param now, tag, body as in cache_learn_body()
 */
cache_outcome cache_learn_message(cache *c, const cache_key *key,
                                  const response *a, cache_cause cause,
                                  const char *path, uint64_t digest,
                                  int64_t now, const void *tag, char **body);

/*
 * Notes that httpd gave this 304 for the key: repeated where the entry's own
 * head does not show it, once two agree. Nothing happens without a live entry
 * for the same path, file and names, made by the same validators.
 * @param st, watch as in cache_learn_watched()
 */
cache_outcome cache_learn_304(cache *c, const cache_key *key,
                              const response_304 *u, const char *path,
                              const struct stat *st, int64_t now,
                              const char *watch, size_t watch_len);

/* Does the entry depend on these names, with what was found there? */
int cache_is_watched(const cache_entry *e, const char *watch, size_t watch_len);

/* Forgets one key (an audit found a difference, a file failed in sending). */
void cache_forget(cache *c, cache_entry *e);

/* Forgets @a e, which was just found, and all other keys of its file, encoded
 * or not: httpd does not answer with it now. */
void cache_forget_file(cache *c, cache_entry *e);

/* Forgets everything (an audit turned the scope off, descriptors ran out). */
void cache_clear(cache *c);

/* Closes up to @a n descriptors of the longest unused files that nobody is
 * sending (EMFILE). @return how many were closed */
unsigned cache_shed(cache *c, unsigned n);

/* Constant time. */
void cache_get_stats(const cache *c, cache_stats *out);

#endif
