/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunks: a body in chunks as httpd's CHUNK filter writes it, and nothing else:
 * no extension, no trailer, no byte behind the last chunk. Pure; any thread.
 */
#ifndef CPUAFFINITY_CHUNKS_H
#define CPUAFFINITY_CHUNKS_H

#include <stddef.h>
#include <stdint.h>

/* Bytes in all chunks of the body, or -1: it is not such a body, or not the
 * whole of one. */
int64_t chunks_content(const char *body, size_t len);

#endif
