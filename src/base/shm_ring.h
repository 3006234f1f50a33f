/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shm_ring: a ring of messages in memory that processes share. Any process
 * can post; each reads at a position of its own, without a lock. Nobody
 * waits: a post that collides with another is lost, and so is what a reader
 * was too slow for. Any process that has the memory can write anything into
 * it, so a message is only bytes, of a length that fits. System calls and
 * memory only; no httpd header is needed.
 */
#ifndef CPUAFFINITY_SHM_RING_H
#define CPUAFFINITY_SHM_RING_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

typedef struct shm_ring shm_ring;

/* A reader's position. Used by its owner only. */
typedef struct shm_ring_reader {
    const shm_ring *ring;
    uint64_t at;   /* words since the ring was made */
    uint64_t lost; /* how often it was too slow */
} shm_ring_reader;

/*
 * Makes a ring, which children inherit by fork as long as nobody is posting
 * then. Pages that were never written take no memory.
 * @param words of 8 bytes, a power of two
 * @return NULL with errno
 */
shm_ring *shm_ring_make(size_t words);

/* Unmaps and closes it in this process. */
void shm_ring_free(shm_ring *b);

/*
 * Posts a message made of parts; never blocks. Any thread of any process.
 * @return 0, or -1 with errno: lost (EBUSY: another one is posting; EMSGSIZE:
 *         empty, or more than a quarter of the ring; else fcntl's)
 */
int shm_ring_post(shm_ring *b, const struct iovec *parts, int nparts);

/* Starts reading: the next message is the first one posted from now on. */
void shm_ring_follow(shm_ring_reader *r, const shm_ring *b);

/*
 * Reads the next message.
 * @param buf receives it; a message that does not fit is skipped
 * @return its length; 0: there is none now
 */
size_t shm_ring_read(shm_ring_reader *r, void *buf, size_t size);

#endif
