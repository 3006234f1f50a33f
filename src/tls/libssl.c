/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/libssl.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

libssl_functions libssl;

/* Versions that the tests have run with, major and minor: how a connection
 * between two requests behaves is not promised by the interface. */
#define IS_TESTED(version) ((version) >> 20 == 0x300)

/* A function's address is no object pointer for the C language. */
static int find(const char *name, void *function, size_t size)
{
    void *found = dlsym(RTLD_DEFAULT, name);

    memcpy(function, &found, size);
    return found ? 0 : -1;
}

const char *libssl_load(void)
{
    static char lacks[80];
    libssl_functions f;

    /* The names of its functions tell nothing without it. */
    if (find("OpenSSL_version_num", &f.OpenSSL_version_num,
             sizeof(f.OpenSSL_version_num))) {
        return "mod_ssl's OpenSSL was not found";
    }
    if (!IS_TESTED(f.OpenSSL_version_num())) {
        snprintf(lacks, sizeof(lacks), "OpenSSL %lx was not tested",
                 f.OpenSSL_version_num() >> 4);
        return lacks;
    }
#define FIND(name)                                                             \
    if (find(#name, &f.name, sizeof(f.name))) {                                \
        return "mod_ssl's OpenSSL has no function " #name;                     \
    }
    LIBSSL_LIST(FIND)
    libssl = f;
    return NULL;
}
