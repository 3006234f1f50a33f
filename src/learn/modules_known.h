/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modules_known: what is known of modules, by name (S1 of docs/security.md).
 * An entry is there because the module's hooks were read and because
 * t/learn-battery.t finds no difference with it. Internal to learn.
 */
#ifndef CPUAFFINITY_MODULES_KNOWN_H
#define CPUAFFINITY_MODULES_KNOWN_H

#include "httpd.h"
#include "http_config.h"

typedef enum modules_use {
    MODULES_INERT,   /* may be configured as one likes */
    MODULES_UNSET,   /* inert where it is not configured at all */
    MODULES_SECTION, /* inert where no section configures it */
    MODULES_NEVER    /* has to see each request, configured or not */
} modules_use;

/* What is known of a module; -1: nothing, so that it refuses. Any thread. */
int modules_known(const module *m);

/* What a module that is MODULES_NEVER does that the loop would keep from it;
 * NULL for any other. Static text. */
const char *modules_known_why(const module *m);

#endif
