/* SPDX-License-Identifier: Apache-2.0 */
/* siphash: published vectors of SipHash-2-4, and SipHash-1-3 as CPython
 * computes it with an all-zero key. */
#include "base/siphash.h"

#include "tap.h"

int main(void)
{
    static const uint64_t key[2] = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
    static const uint64_t zero[2];
    unsigned char in[15];
    unsigned i;

    for (i = 0; i < sizeof(in); i++) {
        in[i] = (unsigned char)i;
    }
    ok(siphash_24(key, in, 15) == 0xa129ca6149be45e5, "2-4 of 15 bytes");
    ok(siphash_24(key, in, 0) == 0x726fdb47dd0e0e31, "2-4 of nothing");
    ok(siphash_13(zero, "a", 1) == 0x407448d2b89b1813, "1-3 of a byte");
    ok(siphash_13(zero, "0123456", 7) == 0x810aaf7acf670379, "1-3 of 7");
    ok(siphash_13(zero, "01234567", 8) == 0xda3dcedf84ea6cc6, "1-3 of 8");
    ok(siphash_13(zero, "0123456789abcdef!", 17) == 0x9463628f6c8882ca,
       "1-3 of 17");
    ok(siphash_13(key, "a", 1) != siphash_13(zero, "a", 1), "keyed");
    return done();
}
