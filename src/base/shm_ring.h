/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shm_ring: a ring of messages in memory that processes share. Each of them
 * posts, and each reads what was posted at its own place and without a lock.
 * Nobody waits for anybody: a post that meets another one is lost, and so is
 * what a reader was too slow for. Whoever has the memory can write anything
 * into it, so what is read is only bytes, of a length that fits. System calls
 * and memory only; no httpd header is needed.
 */
#ifndef CPUAFFINITY_SHM_RING_H
#define CPUAFFINITY_SHM_RING_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

typedef struct shm_ring shm_ring;

/* Where a reader is. Its owner's alone. */
typedef struct shm_ring_reader {
    const shm_ring *board;
    uint64_t at;   /* words, since the board was made */
    uint64_t lost; /* times that it was too slow */
} shm_ring_reader;

/*
 * Makes one; children have it by fork, as long as nobody posts then. Pages
 * that were never written take no memory.
 * @param words of 8 bytes, a power of two
 * @return NULL with errno
 */
shm_ring *shm_ring_make(size_t words);

/* Gives up this process's part of it. */
void shm_ring_free(shm_ring *b);

/*
 * Posts a message made of parts; never blocks. Any thread of any process.
 * @return 0, or -1: lost (EBUSY another one is posting, EMSGSIZE nothing, or
 *         more than a quarter of the ring, or what fcntl says)
 */
int shm_ring_post(shm_ring *b, const struct iovec *parts, int nparts);

/* Reads from now on. */
void shm_ring_follow(shm_ring_reader *r, const shm_ring *b);

/*
 * The next message.
 * @param buf receives it; a longer one is skipped
 * @return its length, 0: there is none now
 */
size_t shm_ring_read(shm_ring_reader *r, void *buf, size_t size);

#endif
