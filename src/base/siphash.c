/* SPDX-License-Identifier: Apache-2.0 */
#include "base/siphash.h"

#include <endian.h>
#include <string.h>

static inline uint64_t rotate(uint64_t v, int n)
{
    return v << n | v >> (64 - n);
}

static inline void rounds(uint64_t v[4], int n)
{
    while (n-- > 0) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotate(v[1], 13) ^ v[0];
        v[3] = rotate(v[3], 16) ^ v[2];
        v[0] = rotate(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = rotate(v[1], 17) ^ v[2];
        v[3] = rotate(v[3], 21) ^ v[0];
        v[2] = rotate(v[2], 32);
    }
}

static inline uint64_t word(const unsigned char *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof(v));
    return le64toh(v);
}

/* The last bytes and, in the highest byte, the length. */
static inline uint64_t last_word(const unsigned char *p, size_t len)
{
    uint64_t v = (uint64_t)len << 56;
    size_t i;

    for (i = 0; i < len % 8; i++) {
        v |= (uint64_t)p[i] << 8 * i;
    }
    return v;
}

static inline uint64_t sip(const uint64_t key[2], const void *data, size_t len,
                           int per_word, int final)
{
    const unsigned char *p = data, *end = p + (len - len % 8);
    /* "somepseudorandomlygeneratedbytes" */
    uint64_t v[4] = {key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d,
                     key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573};
    uint64_t m;

    for (; p < end; p += 8) {
        m = word(p);
        v[3] ^= m;
        rounds(v, per_word);
        v[0] ^= m;
    }
    m = last_word(p, len);
    v[3] ^= m;
    rounds(v, per_word);
    v[0] ^= m;
    v[2] ^= 0xff;
    rounds(v, final);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t siphash_13(const uint64_t key[2], const void *data, size_t len)
{
    return sip(key, data, len, 1, 3);
}

uint64_t siphash_24(const uint64_t key[2], const void *data, size_t len)
{
    return sip(key, data, len, 2, 4);
}
