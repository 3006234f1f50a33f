/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <apr_general.h>

#include "cli/cli.h"

#define VERSION "0.1"

static const char usage[] =
    "usage: cpuaffinity plan [OPTION ...]   the plan for a machine\n"
    "       cpuaffinity ps [PID] [--json]   the threads of a running httpd\n"
    "       cpuaffinity advise SOURCE       what keeps requests from the loop\n"
    "       cpuaffinity COMMAND --help\n"
    "       cpuaffinity --version\n";

static const struct {
    const char *name;
    int (*run)(apr_pool_t *p, int argc, char *argv[]);
} commands[] = {{"plan", cli_plan}, {"ps", cli_ps}, {"advise", cli_advise}};

int cli_fail(const char *format, ...)
{
    va_list ap;

    fputs("cpuaffinity: ", stderr);
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fputc('\n', stderr);
    return CLI_FAILED;
}

static int run(apr_pool_t *p, int argc, char *argv[])
{
    size_t i;

    if (argc < 2) {
        fputs(usage, stderr);
        return CLI_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        fputs(usage, stdout);
        return CLI_OK;
    }
    if (!strcmp(argv[1], "--version")) {
        puts("cpuaffinity " VERSION);
        return CLI_OK;
    }
    for (i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
        if (!strcmp(argv[1], commands[i].name)) {
            return commands[i].run(p, argc - 1, argv + 1);
        }
    }
    cli_fail("'%s' is not a command: plan, ps or advise", argv[1]);
    return CLI_USAGE;
}

int main(int argc, char *argv[])
{
    apr_pool_t *p;
    int rc;

    if (apr_initialize() || apr_pool_create(&p, NULL)) {
        return cli_fail("APR cannot be initialised");
    }
    rc = run(p, argc, argv);
    apr_pool_destroy(p);
    apr_terminate();
    return rc;
}
