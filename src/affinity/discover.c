/* SPDX-License-Identifier: Apache-2.0 */
#include "affinity/discover.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <apr_strings.h>

#define CPU_SYSFS "/sys/devices/system/cpu/"

/* A machine of 4096 CPUs is exported as 3 MiB. */
#define RESPONSE_MAX (64 << 20)

/* What a probe may take beside what httpd has. */
#define MEMORY_MAX (1 << 30)

static void set_common(hwloc_topology_t hw, const topology_source *source,
                       unsigned long flags)
{
    hwloc_topology_set_flags(hw,
                             HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED | flags);
    hwloc_topology_set_io_types_filter(
        hw, source->io ? HWLOC_TYPE_FILTER_KEEP_IMPORTANT
                       : HWLOC_TYPE_FILTER_KEEP_NONE);
}

/* Tells hwloc where to look and what to leave alone. */
static int configure(hwloc_topology_t hw, const topology_source *source,
                     apr_pool_t *p, const char **error)
{
    set_common(hw, source, 0);
    if (source->synthetic
        && hwloc_topology_set_synthetic(hw, source->synthetic)) {
        *error = apr_psprintf(p, "'%s' is not a synthetic topology",
                              source->synthetic);
        return -1;
    }
    if (source->xml && access(source->xml, R_OK)) {
        *error = apr_psprintf(p, "'%s': %s", source->xml, strerror(errno));
        return -1;
    }
    if (source->xml && hwloc_topology_set_xml(hw, source->xml)) {
        *error = apr_psprintf(p, "'%s' is not a topology that this hwloc reads",
                              source->xml);
        return -1;
    }
    return 0;
}

/*
 * hwloc loads its plugins (CUDA, OpenCL, X11, libxml) as soon as one topology
 * is made: slow, and code that no web server wants in its parent. So it is
 * shown no plugins while it looks for them.
 */
static hwloc_topology_t make_without_plugins(apr_pool_t *p)
{
    static const char variable[] = "HWLOC_PLUGINS_PATH";
    const char *before = apr_pstrdup(p, getenv(variable));
    hwloc_topology_t hw = NULL;

    setenv(variable, "/nonexistent", 1);
    if (hwloc_topology_init(&hw)) {
        hw = NULL;
    }
    if (before) {
        setenv(variable, before, 1);
    }
    else {
        unsetenv(variable);
    }
    return hw;
}

const char *discover_path(apr_pool_t *p, const char *name)
{
    const char *root = getenv("HWLOC_FSROOT");

    return apr_pstrcat(p, root ? root : "", CPU_SYSFS, name, NULL);
}

/* Can this machine be read at all? Access may be denied (SELinux); then
 * hwloc would make something up. */
static int sysfs_readable(apr_pool_t *p, const char **error)
{
    const char *file = discover_path(p, "online");

    if (access(file, R_OK)) {
        *error = apr_psprintf(p, "%s: %s", file, strerror(errno));
        return 0;
    }
    return 1;
}

/* hwloc quietly falls back to this machine, and is quietly told by its
 * variables to show another one. */
static const char *misread(const topology_source *source, apr_pool_t *p)
{
    const char *name = source->xml ? source->xml : source->synthetic;
    unsigned version = hwloc_get_api_version();

    return name ? apr_psprintf(p,
                               "'%s' is not a topology that hwloc reads here "
                               "(its API is %u.%u)",
                               name, version >> 16, version >> 8 & 0xff)
                : "an HWLOC_ variable of the environment names another "
                  "machine";
}

/* In this process. NULL with @a error. */
static hwloc_topology_t load(const topology_source *source, apr_pool_t *p,
                             const char **error)
{
    hwloc_topology_t hw;
    int other = source->xml || source->synthetic;

    *error = NULL;
    hw = make_without_plugins(p);
    if (!hw) {
        *error = "hwloc cannot be initialised";
        return NULL;
    }
    if (configure(hw, source, p, error) || hwloc_topology_load(hw)
        || other == hwloc_topology_is_thissystem(hw)) {
        if (!*error) {
            *error = misread(source, p);
        }
        hwloc_topology_destroy(hw);
        return NULL;
    }
    return hw;
}

/* What a probe has found. NULL with @a error. */
static hwloc_topology_t load_xml(const topology_source *source, apr_pool_t *p,
                                 const char *xml, int length,
                                 const char **error)
{
    hwloc_topology_t hw = make_without_plugins(p);

    *error = "hwloc does not read its own export";
    if (!hw) {
        return NULL;
    }
    set_common(hw, source, HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM);
    if (hwloc_topology_set_xmlbuffer(hw, xml, length) || hwloc_topology_load(hw)
        || !hwloc_topology_is_thissystem(hw)
        || hwloc_bitmap_last(hwloc_topology_get_topology_cpuset(hw))
               > TOPOLOGY_CPU_MAX) {
        hwloc_topology_destroy(hw);
        return NULL;
    }
    return hw;
}

/* A probe ends by its signal, at the latest by the alarm, though httpd is gone
 * that would kill it: it has httpd's listening sockets. It leaves nothing
 * behind: no core, no words on httpd's standard error, no memory that the
 * machine does not have. */
static void confine(void)
{
    static const int fatal[] = {SIGABRT, SIGSEGV, SIGBUS,  SIGFPE, SIGILL,
                                SIGTERM, SIGHUP,  SIGUSR1, SIGALRM};
    struct rlimit none = {0, 0}, data;
    long page = sysconf(_SC_PAGESIZE), pages = 0;
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    FILE *f = fopen("/proc/self/statm", "re");
    sigset_t blocked;
    size_t i;

    for (i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++) {
        signal(fatal[i], SIG_DFL);
    }
    sigemptyset(&blocked);
    sigprocmask(SIG_SETMASK, &blocked, NULL);
    alarm(DISCOVER_SECONDS + 1);
    setrlimit(RLIMIT_CORE, &none);
    if (null >= 0) {
        dup2(null, STDERR_FILENO);
    }
    if (f && fscanf(f, "%*d %*d %*d %*d %*d %ld", &pages) == 1
        && !getrlimit(RLIMIT_DATA, &data)) {
        rlim_t want = (rlim_t)pages * (rlim_t)page + MEMORY_MAX;

        data.rlim_cur = want < data.rlim_max ? want : data.rlim_max;
        setrlimit(RLIMIT_DATA, &data);
    }
}

static void send_all(int fd, const char *text, size_t length)
{
    while (length) {
        ssize_t n = write(fd, text, length);

        if (n <= 0) {
            _exit(1);
        }
        text += n;
        length -= (size_t)n;
    }
}

/* The probe: "X" and the topology as XML, or "E" and the reason, each with
 * its final 0. It reads its own XML first: what that does to it is not to
 * happen to httpd. */
static void probe(int fd, const topology_source *source, apr_pool_t *p)
{
    const char *error = "hwloc cannot export it";
    hwloc_topology_t hw;
    char *xml = NULL;
    int length = 0;

    confine();
    hw = load(source, p, &error);
    if (hw && hwloc_topology_export_xmlbuffer(hw, &xml, &length, 0)) {
        error = "hwloc cannot export it";
        hw = NULL;
    }
    if (hw && !load_xml(source, p, xml, length, &error)) {
        hw = NULL;
    }
    if (hw) {
        send_all(fd, "X", 1);
        send_all(fd, xml, (size_t)length);
    }
    else {
        send_all(fd, "E", 1);
        send_all(fd, error, strlen(error) + 1);
    }
    _exit(0);
}

static int milliseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int)(now.tv_sec % 1000000) * 1000 + (int)(now.tv_nsec / 1000000);
}

/* All that the probe writes until it closes its end. NULL with @a error. */
static char *receive(apr_pool_t *p, int fd, size_t *length, const char **error)
{
    int start = milliseconds(), left = DISCOVER_SECONDS * 1000;
    size_t room = 1 << 16;
    char *text = malloc(room);
    ssize_t n = 0;

    *length = 0;
    while (text && left > 0) {
        struct pollfd look = {fd, POLLIN, 0};
        int ready = poll(&look, 1, left);

        left = DISCOVER_SECONDS * 1000 - (milliseconds() - start);
        if (ready <= 0) {
            continue;
        }
        n = read(fd, text + *length, room - *length);
        if (n <= 0) {
            break;
        }
        *length += (size_t)n;
        if (*length == room) {
            char *more = room < RESPONSE_MAX ? realloc(text, room *= 2) : NULL;

            if (!more) {
                break;
            }
            text = more;
        }
    }
    *error = left <= 0 ? apr_psprintf(p, "hwloc was not done in %d seconds",
                                      DISCOVER_SECONDS)
                       : "hwloc failed over it";
    return text;
}

/* The end of a probe that has said all it will. One that the kernel does not
 * let end, for it hangs in a file of sysfs, is httpd's to collect. */
static void collect(pid_t pid)
{
    int i, status;

    kill(pid, SIGKILL);
    for (i = 0; i < 100 && waitpid(pid, &status, WNOHANG) == 0; i++) {
        poll(NULL, 0, 10);
    }
}

/* This machine, by a probe. */
static hwloc_topology_t by_probe(const topology_source *source, apr_pool_t *p,
                                 const char **error)
{
    hwloc_topology_t hw = NULL;
    size_t length;
    char *text;
    int ends[2];
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC)) {
        *error = apr_psprintf(p, "pipe: %s", strerror(errno));
        return NULL;
    }
    pid = fork();
    if (pid == 0) {
        probe(ends[1], source, p);
    }
    close(ends[1]);
    if (pid < 0) {
        *error = apr_psprintf(p, "fork: %s", strerror(errno));
        close(ends[0]);
        return NULL;
    }
    text = receive(p, ends[0], &length, error);
    close(ends[0]);
    collect(pid);
    if (text && length > 1 && text[length - 1] == '\0') {
        if (*text == 'X') {
            hw = load_xml(source, p, text + 1, (int)length - 1, error);
        }
        else {
            *error = apr_pstrdup(p, text + 1);
        }
    }
    free(text);
    return hw;
}

hwloc_topology_t discover(const topology_source *source, apr_pool_t *p,
                          const char **error)
{
    if (source->xml || source->synthetic) {
        return load(source, p, error);
    }
    *error = NULL;
    return sysfs_readable(p, error) ? by_probe(source, p, error) : NULL;
}
