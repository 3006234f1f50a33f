/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_cache: is a part of a file in memory, so that sending it does not wait
 * for a disk? Any thread; no httpd header is needed.
 */
#ifndef CPUAFFINITY_PAGE_CACHE_H
#define CPUAFFINITY_PAGE_CACHE_H

#include <stdint.h>

/* After the kernel was asked to read: milliseconds until the next look, and how
 * many looks before it is better to wait for the disk than to go on so. */
#define PAGE_CACHE_WAIT 4
#define PAGE_CACHE_LOOKS 50
/* Then this many bytes are sent, whether they are in memory or not. */
#define PAGE_CACHE_STEP 131072
/* How far beyond the range looked at the kernel is asked to read. */
#define PAGE_CACHE_AHEAD 2097152

/*
 * How many of the @a len bytes at @a off can be sent at once. Looks at one
 * byte in PAGE_CACHE_STEP: the kernel reads in pieces of about that size. Has
 * the kernel read what is missing, without waiting for it.
 * @return 0 to @a len; @a len too where the file system cannot tell
 */
int64_t page_cache_ready(int fd, int64_t off, int64_t len);

/* For how many milliseconds a range that was in memory is taken to be there
 * still: it has just been used, so the kernel drops others first. */
#define PAGE_CACHE_TRUST 100

/* A range of a file, in memory at @a at (ms); all zero: none. */
typedef struct page_cache_range {
    int64_t from;
    int64_t to;
    int64_t at;
} page_cache_range;

/* As page_cache_ready() at the moment @a now (ms), without a look at what is in
 * @a known; notes there what is found. */
int64_t page_cache_ready_lately(page_cache_range *known, int fd, int64_t off,
                                int64_t len, int64_t now);

#endif
