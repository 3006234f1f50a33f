/* SPDX-License-Identifier: Apache-2.0 */
#include <getopt.h>
#include <stdio.h>

#include "cli/advise_text.h"
#include "cli/cli.h"
#include "cli/source.h"
#include "report/advice.h"

#define SHOWN 20

static const char help[] =
    "usage: cpuaffinity advise [--since SOURCE] [--all] [--json] SOURCE\n"
    "\n"
    "What keeps requests from the loop (FixedStatic), the most expensive "
    "first,\n"
    "and what would change it. SOURCE is the status page of a running httpd\n"
    "(http://127.0.0.1/cpuaffinity), a file with its ?json, or - for standard\n"
    "input. --since: what came after an earlier one only.\n"
    "\n"
    "Exit status: 0; 1 it cannot be read, or is no such status; 2 usage;\n"
    "3 there were too few requests to judge.\n";

typedef struct options {
    const char *since;
    const char *source;
    int json;
    size_t most;
} options;

/* @return -1: go on; else the exit code */
static int parse(int argc, char *argv[], options *o)
{
    static const struct option long_options[] = {
        {"since", required_argument, NULL, 's'},
        {"all", no_argument, NULL, 'a'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0}};
    int id;

    optind = 1;
    while ((id = getopt_long(argc, argv, "s:ajh", long_options, NULL)) != -1) {
        switch (id) {
        case 's':
            o->since = optarg;
            break;
        case 'a':
            o->most = 0;
            break;
        case 'j':
            o->json = 1;
            break;
        case 'h':
            fputs(help, stdout);
            return CLI_OK;
        default:
            return CLI_USAGE;
        }
    }
    if (argc - optind != 1) {
        cli_fail(argc == optind ? "advise needs a SOURCE: a URL, a file or -"
                                : "'%s' is too much",
                 argc == optind ? "" : argv[optind + 1]);
        return CLI_USAGE;
    }
    o->source = argv[optind];
    return -1;
}

static int print(apr_pool_t *p, const options *o, const json_t *advice)
{
    if (o->json) {
        json_dumpf(advice, stdout,
                   JSON_INDENT(1) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(4));
        putchar('\n');
    }
    else {
        advise_text_print(p, stdout, advice, o->most);
    }
    if (fflush(stdout) || ferror(stdout)) {
        return cli_fail("standard output cannot be written");
    }
    return json_is_true(json_object_get(advice, "few")) ? CLI_FEW : CLI_OK;
}

int cli_advise(apr_pool_t *p, int argc, char *argv[])
{
    options o = {.most = SHOWN};
    json_t *now, *before = NULL, *advice;
    const char *why = "";
    int rc = parse(argc, argv, &o);

    if (rc >= 0) {
        return rc;
    }
    if (o.since && !(before = source_read(p, o.since))) {
        return CLI_FAILED;
    }
    if (!(now = source_read(p, o.source))) {
        json_decref(before);
        return CLI_FAILED;
    }
    advice = advice_make(now, before, &why);
    rc = advice ? print(p, &o, advice) : cli_fail("%s: %s", o.source, why);
    json_decref(advice);
    json_decref(before);
    json_decref(now);
    return rc;
}
