/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_id: is a file the one that httpd looked up, and has it settled? By all
 * that changes when somebody touches it: sizes and times of modification can be
 * set back, the time of change cannot. Pure, any thread. Internal to learn.
 */
#ifndef CPUAFFINITY_FILE_ID_H
#define CPUAFFINITY_FILE_ID_H

#include "httpd.h"

#include <sys/stat.h>

/* A regular file, and the one that httpd found (its times have microseconds).
 */
int file_id_is(const apr_finfo_t *found, const struct stat *st);

/* It was not touched in the last two seconds before @a now: a younger one has a
 * weak ETag that will change, and a second touch might not show in its times.
 */
int file_id_is_settled(const struct stat *st, apr_time_t now);

#endif
