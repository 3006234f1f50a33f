/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/send.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cache/page_cache.h"
#include "loop/transport.h"

/* Records that wait for their next use: no allocation in the steady state.
 * The loop's thread alone is here. */
static sending *spare;
static int spares;
#define SPARES 64

/* For slow clients, in all records; and how much of it may be. */
static uint64_t kept;
static uint64_t kept_most = UINT64_MAX;

void send_bound(uint64_t most)
{
    kept_most = most;
}

uint64_t send_kept(void)
{
    return kept;
}

int send_tight(void)
{
    /* One batch more has to have room. */
    return kept + SEND_BATCH + SEND_HEADS > kept_most;
}

void send_keep(sending *s, size_t n)
{
    s->kept += n;
    kept += n;
}

sending *send_make(void)
{
    sending *s = spare;

    if (s) {
        spare = s->next;
        spares--;
        memset(s, 0, sizeof(*s));
        return s;
    }
    return calloc(1, sizeof(*s));
}

void send_free(cache *c, sending *s)
{
    if (!s) {
        return;
    }
    kept -= s->kept;
    free(s->memory);
    if (s->entry) {
        cache_release(c, s->entry);
    }
    if (spares < SPARES) {
        s->next = spare;
        spare = s;
        spares++;
    }
    else {
        free(s);
    }
}

char *send_head_room(send_buffers *b, size_t size)
{
    if (b->parts + 2 > SEND_PARTS || b->bytes >= SEND_BATCH
        || (b->parts && send_tight())
        || b->head_used + size > sizeof(b->head)) {
        return NULL;
    }
    return b->head + b->head_used;
}

/* One more piece, or the last one longer. */
static void add_part(send_buffers *b, const char *bytes, size_t len)
{
    struct iovec *last = b->parts ? &b->part[b->parts - 1] : NULL;

    if (last && (char *)last->iov_base + last->iov_len == bytes) {
        last->iov_len += len;
    }
    else {
        b->part[b->parts].iov_base = (char *)bytes;
        b->part[b->parts++].iov_len = len;
    }
    b->bytes += len;
}

void send_add(send_buffers *b, size_t head_len, const char *body,
              size_t body_len, cache_entry *entry)
{
    add_part(b, b->head + b->head_used, head_len);
    b->head_used += head_len;
    b->tail = 0;
    if (body_len && body_len <= SEND_COPY && !send_tight()
        && body_len <= sizeof(b->head) - b->head_used) {
        /* Cheaper than the kernel's look at one more piece. */
        memcpy(b->head + b->head_used, body, body_len);
        add_part(b, b->head + b->head_used, body_len);
        b->head_used += body_len;
    }
    else if (body_len) {
        add_part(b, body, body_len);
        cache_hold(entry);
        b->held[b->holds++] = entry;
        b->tail = 1;
    }
}

void send_drop(send_buffers *b, cache *c)
{
    int i;

    for (i = 0; i < b->holds; i++) {
        cache_release(c, b->held[i]);
    }
    b->holds = b->parts = b->tail = 0;
    b->bytes = b->head_used = 0;
}

/* The body that comes last, or what is left of it, is sent from where it is;
 * it is not of the batch any more. */
static void keep_tail(send_buffers *b, size_t sent, sending *s)
{
    struct iovec *last = &b->part[--b->parts];
    size_t before = b->bytes - last->iov_len;
    size_t skip = sent > before ? sent - before : 0;

    s->entry = b->held[b->holds - 1];
    cache_hold(s->entry);
    s->file_off = (char *)last->iov_base - s->entry->file->data + (off_t)skip;
    s->file_left = (int64_t)(last->iov_len - skip);
    b->bytes = before;
}

/* Copies what follows the first @a sent bytes of the batch. 0 or -1 */
static int keep_rest(send_buffers *b, size_t sent, sending **rest)
{
    size_t off = 0;
    int i;

    if (!*rest && !(*rest = send_make())) {
        return -1;
    }
    if (b->tail && !(*rest)->entry) {
        keep_tail(b, sent, *rest);
    }
    if (sent >= b->bytes) {
        return 0;
    }
    (*rest)->memory = malloc(b->bytes - sent);
    if (!(*rest)->memory) {
        return -1;
    }
    send_keep(*rest, b->bytes - sent);
    for (i = 0; i < b->parts; i++) {
        size_t len = b->part[i].iov_len;
        size_t skip = sent < len ? sent : len;

        memcpy((*rest)->memory + off, (char *)b->part[i].iov_base + skip,
               len - skip);
        off += len - skip;
        sent -= skip;
    }
    (*rest)->memory_off = 0;
    (*rest)->memory_len = off;
    return 0;
}

send_result send_flush(send_buffers *b, cache *c, conn *to, int more,
                       sending **rest)
{
    send_result result = SEND_DONE;
    ssize_t n;

    if (!b->parts) {
        return SEND_DONE;
    }
    n = transport_send(to, b->part, b->parts, more ? MSG_MORE : 0);
    if (n < 0 && errno != EAGAIN) {
        result = SEND_FAILED;
    }
    else if (n < 0 || (size_t)n < b->bytes || transport_pending(to)) {
        result = keep_rest(b, n < 0 ? 0 : (size_t)n, rest) ? SEND_FAILED
                                                           : SEND_BLOCKED;
    }
    send_drop(b, c);
    return result;
}

int64_t send_left(const sending *s)
{
    return (int64_t)(s->memory ? s->memory_len - s->memory_off : 0)
           + s->file_left;
}

static ssize_t send_bytes(conn *to, const char *bytes, size_t len, int flags)
{
    struct iovec part = {(char *)bytes, len};

    return transport_send(to, &part, 1, flags);
}

static send_result send_memory(conn *to, sending *s)
{
    while (s->memory_off < s->memory_len) {
        ssize_t n = send_bytes(to, s->memory + s->memory_off,
                               s->memory_len - s->memory_off,
                               s->file_left ? MSG_MORE : 0);

        if (n < 0) {
            return errno == EAGAIN ? SEND_BLOCKED : SEND_FAILED;
        }
        s->memory_off += (size_t)n;
    }
    free(s->memory);
    s->memory = NULL;
    return SEND_DONE;
}

/* Some bytes of the file, read and sent. As sendfile: bytes, 0 (the file
 * has been cut), -1 with errno. */
static ssize_t copy_some(send_buffers *b, conn *to, sending *s, size_t want)
{
    size_t size = want < sizeof(b->file) ? want : sizeof(b->file);
    ssize_t got = pread(s->entry->file->fd, b->file, size, s->file_off);

    if (got <= 0) {
        return got;
    }
    return send_bytes(to, b->file, (size_t)got, 0);
}

/* How many of the next @a want bytes go out without waiting for a disk; 0:
 * none yet. */
static size_t warm_some(sending *s, int64_t want, int64_t now)
{
    cache_file *f = s->entry->file;
    int64_t n = f->data ? want
                        : page_cache_ready_lately(&f->warm, f->fd, s->file_off,
                                                  want, now);

    if (n == 0 && ++s->looks >= PAGE_CACHE_LOOKS) {
        n = want < PAGE_CACHE_STEP ? want : PAGE_CACHE_STEP;
    }
    if (n > 0) {
        s->looks = 0;
    }
    return (size_t)n;
}

static ssize_t file_some(send_buffers *b, conn *to, sending *s, size_t want)
{
    off_t off = s->file_off;
    ssize_t n;

    if (s->entry->file->data) {
        return send_bytes(to, s->entry->file->data + off, want, 0);
    }
    if (s->by_read || to->kept) {
        s->by_read = 1;
        return copy_some(b, to, s, want);
    }
    n = sendfile(to->fd, s->entry->file->fd, &off, want);
    if (n < 0 && (errno == EINVAL || errno == ENOSYS)) {
        /* Some file systems cannot: go on from here by reading. */
        s->by_read = 1;
        return copy_some(b, to, s, want);
    }
    return n;
}

send_result send_go_on(send_buffers *b, conn *to, sending *s, int64_t now)
{
    int64_t slice = SEND_SLICE;

    if (transport_flush(to)) {
        return errno == EAGAIN ? SEND_BLOCKED : SEND_FAILED;
    }
    if (s->memory) {
        send_result r = send_memory(to, s);

        if (r != SEND_DONE) {
            return r;
        }
    }
    while (s->file_left > 0) {
        size_t want;
        ssize_t n;

        if (slice <= 0) {
            return SEND_SLICED;
        }
        want = warm_some(s, s->file_left < slice ? s->file_left : slice, now);
        if (!want) {
            return SEND_COLD;
        }
        n = file_some(b, to, s, want);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return errno == EAGAIN ? SEND_BLOCKED : SEND_FAILED;
        }
        if (n == 0) {
            return SEND_FAILED; /* shorter than its answer says */
        }
        s->file_off += n;
        s->file_left -= n;
        slice -= n;
        if ((size_t)n < want && !s->by_read) {
            return SEND_BLOCKED; /* it took what the socket had room for */
        }
    }
    return transport_pending(to) ? SEND_BLOCKED : SEND_DONE;
}
