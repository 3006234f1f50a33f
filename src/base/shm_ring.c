/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shm_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/shared_mem.h"

/*
 * A message is a word with its length in bytes and as many words as it
 * needs. A writer announces how far it is going to write before it does, and
 * how far it has written afterwards; a reader copies first and then checks
 * whether a writer may have overwritten what it copied. All words are atomic,
 * as a reader may load one that is being written.
 *
 * Writers exclude one another, and none waits: threads by a mutex in their
 * process's own memory, processes by a record lock on the memfd, both only by
 * trylock. The kernel holds that lock and releases it when its owner dies;
 * nothing in the shared memory lets a process make another write, read or
 * wait elsewhere, as the list pointers of a pthread_mutex_t would. A process
 * that never releases the lock, or writes without it, spoils messages; a
 * position that it left is only ever used modulo the ring.
 */
typedef struct shared {
    uint64_t reserved; /* words announced; never decreases */
    uint64_t head;     /* words ever written */
    uint64_t ring[];
} shared;

struct shm_ring {
    pthread_mutex_t threads; /* of this process */
    shared_mem memory;
    shared *mem;  /* in it */
    size_t words; /* a copy: others can write to *mem */
};

static size_t bytes_of(size_t words)
{
    return sizeof(shared) + words * sizeof(uint64_t);
}

static size_t words_of(size_t bytes)
{
    return (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t);
}

shm_ring *shm_ring_make(size_t words)
{
    shm_ring *b = malloc(sizeof(*b));

    if (!b) {
        return NULL;
    }
    if (shared_mem_make(&b->memory, "cpuaffinity-ring", bytes_of(words))) {
        free(b);
        return NULL;
    }
    pthread_mutex_init(&b->threads, NULL);
    b->mem = b->memory.at;
    b->words = words;
    if (b->memory.fd < 0) {
        shm_ring_free(b); /* there is nothing to lock */
        errno = ENOSYS;
        return NULL;
    }
    return b;
}

void shm_ring_free(shm_ring *b)
{
    shared_mem_free(&b->memory);
    pthread_mutex_destroy(&b->threads);
    free(b);
}

/* F_WRLCK, without waiting, or F_UNLCK. @return 0 or -1 with errno */
static int lock_processes(const shm_ring *b, short type)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_len = 1};

    return fcntl(b->memory.fd, F_SETLK, &lock);
}

static void put(shm_ring *b, uint64_t at, uint64_t word)
{
    __atomic_store_n(&b->mem->ring[at & (b->words - 1)], word,
                     __ATOMIC_RELAXED);
}

static uint64_t get(const shm_ring *b, uint64_t at)
{
    return __atomic_load_n(&b->mem->ring[at & (b->words - 1)],
                           __ATOMIC_RELAXED);
}

/* Writes the parts one after another, from word @a at on. */
static void put_parts(shm_ring *b, uint64_t at, const struct iovec *parts,
                      int nparts)
{
    uint64_t word = 0;
    size_t have = 0;
    int i;

    for (i = 0; i < nparts; i++) {
        const char *from = parts[i].iov_base;
        size_t left = parts[i].iov_len;

        while (left) {
            size_t n = sizeof(word) - have < left ? sizeof(word) - have : left;

            memcpy((char *)&word + have, from, n);
            from += n;
            left -= n;
            have += n;
            if (have == sizeof(word)) {
                put(b, at++, word);
                have = 0;
            }
        }
    }
    if (have) {
        put(b, at, word);
    }
}

static void write_message(shm_ring *b, size_t len, const struct iovec *parts,
                          int nparts)
{
    shared *m = b->mem;
    uint64_t at = __atomic_load_n(&m->head, __ATOMIC_RELAXED);
    uint64_t end = at + 1 + words_of(len);

    /* A writer that died may have reserved more. */
    if (__atomic_load_n(&m->reserved, __ATOMIC_RELAXED) < end) {
        __atomic_store_n(&m->reserved, end, __ATOMIC_RELAXED);
    }
    __atomic_thread_fence(__ATOMIC_RELEASE);
    put(b, at, len);
    put_parts(b, at + 1, parts, nparts);
    __atomic_store_n(&m->head, end, __ATOMIC_RELEASE);
}

int shm_ring_post(shm_ring *b, const struct iovec *parts, int nparts)
{
    size_t len = 0;
    int error, i;

    for (i = 0; i < nparts; i++) {
        len += parts[i].iov_len;
    }
    if (!len || words_of(len) >= b->words / 4) {
        errno = EMSGSIZE;
        return -1;
    }
    error = pthread_mutex_trylock(&b->threads);
    if (error) {
        errno = error;
        return -1;
    }
    error = lock_processes(b, F_WRLCK) ? errno : 0;
    if (!error) {
        write_message(b, len, parts, nparts);
        lock_processes(b, F_UNLCK);
    }
    pthread_mutex_unlock(&b->threads);
    errno = error == EAGAIN || error == EACCES ? EBUSY : error;
    return error ? -1 : 0;
}

void shm_ring_follow(shm_ring_reader *r, const shm_ring *b)
{
    r->ring = b;
    r->at = __atomic_load_n(&b->mem->head, __ATOMIC_ACQUIRE);
    r->lost = 0;
}

/* Copies the words of a message of @a len bytes. */
static void copy(const shm_ring *b, uint64_t at, char *to, size_t len)
{
    while (len) {
        uint64_t word = get(b, at++);
        size_t n = len < sizeof(word) ? len : sizeof(word);

        memcpy(to, &word, n);
        to += n;
        len -= n;
    }
}

/* What was written up to @a head is lost to this reader. */
static size_t too_late(shm_ring_reader *r, uint64_t head)
{
    r->at = head;
    r->lost++;
    return 0;
}

size_t shm_ring_read(shm_ring_reader *r, void *buf, size_t size)
{
    const shm_ring *b = r->ring;
    /* Loaded once: a writer that keeps moving it cannot hold us here. */
    uint64_t head = __atomic_load_n(&b->mem->head, __ATOMIC_ACQUIRE);
    uint64_t len, reserved;

    while (head != r->at) {
        if (head - r->at > b->words) {
            return too_late(r, head);
        }
        len = get(b, r->at);
        if (!len || len >= b->words * sizeof(uint64_t)
            || 1 + words_of(len) > head - r->at) {
            return too_late(r, head);
        }
        if (len <= size) {
            copy(b, r->at + 1, buf, len);
        }
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        reserved = __atomic_load_n(&b->mem->reserved, __ATOMIC_RELAXED);
        if (reserved - r->at > b->words) {
            return too_late(r, head);
        }
        r->at += 1 + words_of(len);
        if (len <= size) {
            return len;
        }
    }
    return 0;
}
