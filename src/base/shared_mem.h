/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_mem: memory that the parent and its children share; all of it is
 * made here. Each piece is a memfd, sealed before there is a child: its size
 * can never change, as whoever could shrink it could kill every process that
 * has it mapped, the parent too (SIGBUS). Its contents are another matter:
 * children can write any byte at any time, so a reader copies a value, checks
 * the copy, and takes no length, index or pointer from there. It holds no
 * lock that anyone waits for, nor one with pointers (pthread_mutex_t).
 * No httpd header is needed.
 */
#ifndef CPUAFFINITY_SHARED_MEM_H
#define CPUAFFINITY_SHARED_MEM_H

#include <stddef.h>

typedef struct shared_mem {
    void *at;
    size_t size; /* bytes */
    int fd;      /* -1: no memfd to be had; nobody can open this memory */
} shared_mem;

/*
 * Makes zeroed memory, which children inherit by fork. Call it before there
 * are any.
 * @param name of the memfd, for /proc
 * @return 0, or -1 with errno
 */
int shared_mem_make(shared_mem *m, const char *name, size_t size);

/* Unmaps and closes it in this process. */
void shared_mem_free(shared_mem *m);

/* Publishes bytes that nobody can ever change, for other programs to find in
 * /proc.
 * @return a descriptor, or -1 with errno */
int shared_mem_publish(const char *name, const void *bytes, size_t size);

#endif
