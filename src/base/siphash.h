/* SPDX-License-Identifier: Apache-2.0 */
/*
 * siphash: the keyed hash of Aumasson and Bernstein, so that no client can
 * make keys that collide in one bucket. Pure, any thread.
 */
#ifndef CPUAFFINITY_SIPHASH_H
#define CPUAFFINITY_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

/* SipHash-1-3, strong enough for hash tables. */
uint64_t siphash_13(const uint64_t key[2], const void *data, size_t len);

/* SipHash-2-4, which the published test vectors are for. */
uint64_t siphash_24(const uint64_t key[2], const void *data, size_t len);

#endif
