/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_repeat: do two fields of a head have the same name? httpd joins
 * their values, and measures what comes out. Only for heads that are longer
 * than a field may be. Pure; any thread.
 */
#ifndef CPUAFFINITY_REQUEST_REPEAT_H
#define CPUAFFINITY_REQUEST_REPEAT_H

/*
 * @param p first byte of the first field of a head that was recognised
 * @param end after the line end of the last one
 * @return 1 when two names may be the same in any case; 0 when all differ
 */
int request_repeat_has(const char *p, const char *end);

#endif
