/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pin: sets CPU masks and names of threads. Masks have as many bits as the
 * kernel needs; every mask that is set is read back. Errors: -1 with errno.
 * Any thread; no httpd header is needed.
 */
#ifndef CPUAFFINITY_PIN_H
#define CPUAFFINITY_PIN_H

#include <pthread.h>
#include <sys/types.h>

#include "affinity/cpuset.h"

/* Reads the mask of a thread (kernel id; 0: the caller) into @a set.
 * @return 0 or -1 (ESRCH: it is gone) */
int pin_get(pid_t tid, cpuset *set);

/*
 * Sets the mask of a thread (kernel id; 0: the caller) and reads it back.
 * @param actual gets what the kernel made of it; may be NULL
 * @return 0: it is as wanted; 1: the kernel gave less (@a actual says what);
 *         -1: refused (EINVAL: no CPU of the set is available)
 */
int pin_set(pid_t tid, const cpuset *want, cpuset *actual);

/* The same by pthread_t. The caller guarantees that the thread has not been
 * joined. @return as pin_set() */
int pin_set_pthread(pthread_t thread, const cpuset *want, cpuset *actual);

/* Names a thread of this process (kernel id; 0: the caller) with at most 15
 * bytes. @return 0 or -1 */
int pin_name(pid_t tid, const char *name);

/* The kernel's id of the calling thread. */
pid_t pin_self(void);

/*
 * Makes programs started from this process's threads run with @a original
 * and the default memory policy instead of the thread's (a pthread_atfork
 * handler). Once per process; @a original must live as long as the process.
 * @return 0 or -1
 */
int pin_children(const cpuset *original);

#endif
