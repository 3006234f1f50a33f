/* SPDX-License-Identifier: Apache-2.0 */
#include "loop/descriptors.h"

#include <sys/resource.h>

/* That the loop leaves to httpd. */
#define RESERVE 64

unsigned descriptors_limit(void)
{
    struct rlimit r;

    if (getrlimit(RLIMIT_NOFILE, &r)) {
        return 1024;
    }
    return r.rlim_cur > 1 << 20 ? 1 << 20 : (unsigned)r.rlim_cur;
}

unsigned descriptors_room(void)
{
    unsigned all = descriptors_limit();

    return all / 2 > RESERVE ? all / 2 : all / 4;
}
