/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listensock: makes a listening socket like another one, in the same
 * SO_REUSEPORT group. System calls only, no httpd header. Any thread.
 */
#ifndef CPUAFFINITY_LISTENSOCK_H
#define CPUAFFINITY_LISTENSOCK_H

#include <sys/socket.h>

/* Room for listensock_name. */
#define LISTENSOCK_NAME 72

/*
 * Lets other sockets of this user share a socket's address; it may already
 * listen.
 * @return 0, or -1 with errno
 */
int listensock_share(int fd);

/* A duplicate of the descriptor, close-on-exec and non-blocking; the original
 * becomes non-blocking too. @return it, or -1 with errno */
int listensock_dup(int fd);

/*
 * Another socket that listens on the address of @a model (after
 * listensock_share()) with the same options and backlog; close-on-exec,
 * non-blocking.
 * @param failed on failure the system call or option
 * @return the descriptor, or -1 with errno. An option that cannot be copied
 *         is a failure.
 */
int listensock_like(int model, const char **failed);

/* Reads a listening socket's queue: connections waiting to be accepted, and
 * how many may. Either may be NULL. @return 0, or -1 with errno */
int listensock_queue(int fd, int *waiting, int *backlog);

/* Whether two descriptors refer to the same socket. */
int listensock_is_same(int a, int b);

/* "127.0.0.1:80" or "[::]:443" into @a name (LISTENSOCK_NAME bytes). */
const char *listensock_name(const struct sockaddr_storage *address,
                            socklen_t len, char *name);

#endif
