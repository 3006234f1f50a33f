/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli: the program "cpuaffinity": one function per command.
 */
#ifndef CPUAFFINITY_CLI_H
#define CPUAFFINITY_CLI_H

#include <apr_pools.h>

#define CLI_OK 0
#define CLI_FAILED 1 /* said what, with which value, and why */
#define CLI_USAGE 2  /* the call itself is wrong */
#define CLI_FEW 3    /* done, but there was too little to judge */

/* A command: @a argv[0] is its name. @return one of the above */
int cli_plan(apr_pool_t *p, int argc, char *argv[]);
int cli_advise(apr_pool_t *p, int argc, char *argv[]);
int cli_ps(apr_pool_t *p, int argc, char *argv[]);

/* "cpuaffinity: " and the message, to standard error. @return CLI_FAILED */
int cli_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
