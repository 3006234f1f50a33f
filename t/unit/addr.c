/* SPDX-License-Identifier: Apache-2.0 */
/* addr: which addresses are known.
 */
#include "base/addr.h"

#include <arpa/inet.h>
#include <string.h>

#include "tap.h"

static int known(int family, const char *text)
{
    addr a;

    memset(&a, 0, sizeof(a));
    a.any.sa_family = (sa_family_t)family;
    if (family == AF_INET) {
        inet_pton(family, text, &a.in.sin_addr);
    }
    else if (family == AF_INET6) {
        inet_pton(family, text, &a.in6.sin6_addr);
    }
    return addr_is_known(&a);
}

static addr make(int family, const char *text, int port)
{
    addr a;

    memset(&a, 0, sizeof(a));
    a.any.sa_family = (sa_family_t)family;
    a.in.sin_port = htons((uint16_t)port);
    inet_pton(family, text,
              family == AF_INET6 ? (void *)&a.in6.sin6_addr
                                 : (void *)&a.in.sin_addr);
    return a;
}

static int comes_in(int family, const char *local, int port, int at_family,
                    const char *at, int at_port)
{
    addr a = make(family, local, port), b = make(at_family, at, at_port);

    return (int)addr_comes_in(&a, &b);
}

static void test_comes_in(void)
{
    is_int(comes_in(AF_INET, "127.0.0.1", 80, AF_INET, "127.0.0.1", 80),
           ADDR_EXACT, "the address itself");
    is_int(comes_in(AF_INET, "127.0.0.1", 80, AF_INET, "0.0.0.0", 80),
           ADDR_WILDCARD, "a wildcard");
    is_int(comes_in(AF_INET, "127.0.0.1", 80, AF_INET, "127.0.0.2", 80),
           ADDR_ELSEWHERE, "another address");
    is_int(comes_in(AF_INET, "127.0.0.1", 80, AF_INET, "127.0.0.1", 81),
           ADDR_ELSEWHERE, "another port");
    is_int(comes_in(AF_INET, "127.0.0.1", 80, AF_INET6, "::", 80),
           ADDR_ELSEWHERE, "another family");
    is_int(comes_in(AF_INET6, "::ffff:127.0.0.1", 80, AF_INET6, "::", 80),
           ADDR_WILDCARD, "mapped, behind the wildcard of IPv6");
    is_int(comes_in(AF_INET6, "::1", 80, AF_INET6, "::1", 80), ADDR_EXACT,
           "IPv6");
}

/* No two addresses have the same bytes. */
static void test_bytes(void)
{
    const addr all[] = {
        make(AF_INET, "127.0.0.1", 80),  make(AF_INET, "127.0.0.1", 81),
        make(AF_INET, "127.0.0.2", 80),  make(AF_INET6, "::1", 80),
        make(AF_INET6, "::1", 81),       make(AF_INET6, "::2", 80),
        make(AF_INET6, "fe80::1%lo", 80)};
    unsigned char a[ADDR_BYTES], b[ADDR_BYTES];
    int same = 0;
    size_t i, j;

    for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        for (j = 0; j < i; j++) {
            size_t n = addr_bytes(&all[i], a), m = addr_bytes(&all[j], b);

            same += n == m && !memcmp(a, b, n);
        }
    }
    is_int(same, 0, "no two have the same bytes");
}

int main(void)
{
    test_comes_in();
    test_bytes();
    is_int(known(AF_UNSPEC, ""), 0, "nothing was filled in");
    is_int(known(AF_UNIX, ""), 0, "not an Internet address");
    is_int(known(AF_INET, "0.0.0.0"), 0, "a wildcard is no address");
    is_int(known(AF_INET6, "::"), 0, "in neither family");
    is_int(known(AF_INET, "127.0.0.1"), 1, "IPv4");
    is_int(known(AF_INET6, "::1"), 1, "IPv6");
    is_int(known(AF_INET6, "::ffff:127.0.0.1"), 1, "mapped");
    return done();
}
