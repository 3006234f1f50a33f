/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a child that is no longer ours could do to the memory that it shares
 * with its parent and its siblings. Built by t/fixed-hostile.t.
 *   /hostile/shrink    tries to cut each memfd that it has, by all ways
 *   /hostile/scribble  writes any bytes into all of it, for a second
 */
#include "httpd.h"
#include "http_config.h"
#include "http_core.h"
#include "http_protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *outcome(int rc)
{
    return rc >= 0 ? "done" : errno == EPERM ? "EPERM" : strerror(errno);
}

static void shrink_one(request_rec *r, int fd)
{
    char path[64], name[64] = "";
    struct stat st = {0};
    ssize_t n;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    n = readlink(path, name, sizeof(name) - 1);
    name[n < 0 ? 0 : n] = '\0';
    ap_rprintf(r, "%s: %s", name, outcome(ftruncate(fd, 0)));
    ap_rprintf(r, " %s", outcome(ftruncate(fd, 1 << 20)));
    ap_rprintf(r, " %s", outcome(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE)));
    fstat(fd, &st);
    ap_rprintf(r, " uid %d size %ld\n", (int)getuid(), (long)st.st_size);
}

static void shrink(request_rec *r)
{
    int fd;

    for (fd = 3; fd < 1024; fd++) {
        if (fcntl(fd, F_GET_SEALS) >= 0) {
            shrink_one(r, fd);
        }
    }
}

/* One line of /proc/self/maps: memory of ours? */
static int is_ours(const char *line, char **start, char **end)
{
    char mode[8], name[256] = "";
    unsigned long from, to;

    if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %255s", &from, &to, mode, name)
            != 4
        || strcmp(mode, "rw-s") || strncmp(name, "/memfd:cpuaffinity", 18)) {
        return 0;
    }
    *start = (char *)from;
    *end = (char *)to;
    return 1;
}

static void scribble_once(FILE *maps, unsigned round)
{
    char line[512], *p, *end;

    rewind(maps);
    while (fgets(line, sizeof(line), maps)) {
        if (!is_ours(line, &p, &end)) {
            continue;
        }
        /* Random bytes, and all of one value. */
        for (; p < end; p++) {
            *p = (char)(round % 3 ? random() : (long)round * 85);
        }
    }
}

static void scribble(request_rec *r)
{
    apr_time_t end = apr_time_now() + apr_time_from_sec(1);
    FILE *maps = fopen("/proc/self/maps", "re");
    unsigned round = 1;

    while (maps && apr_time_now() < end) {
        scribble_once(maps, round++);
    }
    if (maps) {
        fclose(maps);
    }
    ap_rprintf(r, "pid %d wrote %s\n", (int)getpid(),
               round > 2 ? "it all" : "nothing");
}

static int handle(request_rec *r)
{
    if (!strcmp(r->uri, "/hostile/shrink")) {
        shrink(r);
        return OK;
    }
    if (!strcmp(r->uri, "/hostile/scribble")) {
        scribble(r);
        return OK;
    }
    return DECLINED;
}

static void register_hooks(apr_pool_t *p)
{
    ap_hook_handler(handle, NULL, NULL, APR_HOOK_FIRST);
}

/* A name that FixedStatic knows, or nothing would be learned beside it. */
#line 1 "mod_asis.c"
AP_DECLARE_MODULE(asis) = {
    STANDARD20_MODULE_STUFF, NULL, NULL, NULL, NULL, NULL, register_hooks,
    AP_MODULE_FLAG_NONE};
