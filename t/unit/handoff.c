/* parcel: which addresses are known.
 * links: src/handoff/handoff.c
 */
#include "handoff/handoff.h"

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
    return handoff_addr_is_known(&a);
}

int main(void)
{
    is_int(known(AF_UNSPEC, ""), 0, "nothing was filled in");
    is_int(known(AF_UNIX, ""), 0, "not an Internet address");
    is_int(known(AF_INET, "0.0.0.0"), 0, "a wildcard is no address");
    is_int(known(AF_INET6, "::"), 0, "in neither family");
    is_int(known(AF_INET, "127.0.0.1"), 1, "IPv4");
    is_int(known(AF_INET6, "::1"), 1, "IPv6");
    is_int(known(AF_INET6, "::ffff:127.0.0.1"), 1, "mapped");
    return done();
}
