/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/page_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/uio.h>

/* Is the byte in memory? Where that cannot be asked: yes. */
static int is_there(int fd, int64_t at)
{
    char byte;
    struct iovec one = {&byte, 1};

    return preadv2(fd, &one, 1, at, RWF_NOWAIT) >= 0 || errno != EAGAIN;
}

int64_t page_cache_ready(int fd, int64_t off, int64_t len)
{
    int64_t ready;

    for (ready = 0; ready < len; ready += PAGE_CACHE_STEP) {
        if (!is_there(fd, off + ready)) {
            posix_fadvise(fd, off + ready, len - ready + PAGE_CACHE_AHEAD,
                          POSIX_FADV_WILLNEED);
            return ready;
        }
    }
    return len;
}

int64_t page_cache_ready_lately(page_cache_range *known, int fd, int64_t off,
                                int64_t len, int64_t now)
{
    int fresh = known->to > 0 && now - known->at < PAGE_CACHE_TRUST;
    int64_t ready;

    if (fresh && off >= known->from && off + len <= known->to) {
        return len;
    }
    ready = page_cache_ready(fd, off, len);
    if (fresh && off >= known->from && off <= known->to) {
        /* Its beginning keeps its age. */
        known->to = off + ready > known->to ? off + ready : known->to;
    }
    else {
        *known = (page_cache_range){off, off + ready, now};
    }
    return ready;
}
