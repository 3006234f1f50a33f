/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_mem: memory that the parent and its children share, all of it made
 * here. Each piece is a memfd, sealed before there is a child: its size can
 * never change, as whoever could shrink it would kill every process that has
 * it mapped, the parent too (SIGBUS). What stands in it is another matter:
 * children can write any byte at any time, so a reader copies a value, checks
 * the copy, and takes no length, index or pointer from there; nothing in it
 * is a lock that somebody waits for, or that has pointers (pthread_mutex_t).
 * No httpd header is needed.
 */
#ifndef CPUAFFINITY_SHARED_MEM_H
#define CPUAFFINITY_SHARED_MEM_H

#include <stddef.h>

typedef struct shared_mem {
    void *at;
    size_t size; /* bytes */
    int fd;      /* -1: the kernel gave no memfd; nobody can open this */
} shared_mem;

/*
 * Makes zeroed memory; children have it by fork. Before there are any.
 * @param name of the memfd, for /proc
 * @return 0, or -1 with errno
 */
int shared_mem_make(shared_mem *m, const char *name, size_t size);

/* Gives up this process's part of it. */
void shared_mem_free(shared_mem *m);

/* Bytes that nobody can ever change, for other programs to find in /proc.
 * @return a descriptor, or -1 with errno */
int shared_mem_publish(const char *name, const void *bytes, size_t size);

#endif
