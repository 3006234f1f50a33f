/* SPDX-License-Identifier: Apache-2.0 */
#include "listen/steer_apply.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <apr_strings.h>
#include <hwloc/bitmap.h>

#include "affinity/pin.h"

#ifndef SO_INCOMING_CPU
#define SO_INCOMING_CPU 49
#endif
#ifndef SO_ATTACH_REUSEPORT_CBPF
#define SO_ATTACH_REUSEPORT_CBPF 51
#endif
#ifndef SO_DETACH_REUSEPORT_BPF
#define SO_DETACH_REUSEPORT_BPF 68
#endif

#define PROBE_CPUS 4    /* CPUs that are tried */
#define PROBE_ROUNDS 3  /* connections from each */
#define PROBE_WAIT 1000 /* milliseconds for a connection to show up */

const char *steer_apply_name(steer_method method)
{
    static const char *const names[] = {"off", "incoming-cpu", "cbpf"};

    return names[method];
}

static int attach(int fd, struct sock_filter *code, int length,
                  const char **failed)
{
    struct sock_fprog program = {(unsigned short)length, code};

    *failed = "SO_ATTACH_REUSEPORT_CBPF";
    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &program,
                      sizeof(program));
}

static int set_cpu(int fd, int cpu, const char **failed)
{
    int now = -1;
    socklen_t len = sizeof(now);

    *failed = "SO_INCOMING_CPU";
    if (!getsockopt(fd, SOL_SOCKET, SO_INCOMING_CPU, &now, &len)
        && now == cpu) {
        return 0;
    }
    return setsockopt(fd, SOL_SOCKET, SO_INCOMING_CPU, &cpu, sizeof(cpu));
}

/* Back to the kernel's hash or, where that would choose surplus sockets or a
 * program cannot be detached (before Linux 5.3), to a random choice. */
static int spread(const int *fds, int nfds, int seats, const char **failed)
{
    struct sock_filter code[3];
    int none = 0;

    if (nfds <= seats
        && (!setsockopt(fds[0], SOL_SOCKET, SO_DETACH_REUSEPORT_BPF, &none,
                        sizeof(none))
            || errno == ENOENT)) {
        return 0;
    }
    return attach(fds[0], code, steer_map_random(seats, code), failed);
}

int steer_apply(const int *fds, int nfds, int seats, steer_method method,
                const steermap *map, const char **failed)
{
    struct sock_filter code[BPF_MAXINSNS];
    int i, length;

    if (nfds < 2) {
        return 0; /* a single socket needs no steering */
    }
    if (method == STEER_INCOMING_CPU && nfds > seats) {
        method = STEER_CBPF; /* the only one that spares surplus sockets */
    }
    for (i = 0; i < nfds; i++) {
        int cpu = method == STEER_INCOMING_CPU ? map->cpu[i] : -1;

        if (set_cpu(fds[i], cpu, failed)) {
            return -1;
        }
    }
    if (method != STEER_CBPF) {
        return spread(fds, nfds, seats, failed);
    }
    length = steer_map_program(map, code, BPF_MAXINSNS);
    if (length < 0) {
        *failed = "the program is too long";
        errno = E2BIG;
        return -1;
    }
    return attach(fds[0], code, length, failed);
}

int steer_close_door(int fd)
{
    /* Byte 13 of the TCP header: SYN is 2, ACK is 16. */
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 13),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x12),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x02, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0), BPF_STMT(BPF_RET | BPF_K, 0xffffffff)};
    struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program,
                      sizeof(program));
}

/* A private group of listening sockets on 127.0.0.1. */
typedef struct probe {
    int n;
    int fds[PROBE_CPUS];
    int cpus[PROBE_CPUS];
    struct sockaddr_in address;
    const char *failed; /* the system call that failed */
} probe;

static int probe_listen(probe *pr, int i)
{
    int one = 1, fd;
    socklen_t len = sizeof(pr->address);

    fd = pr->fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    pr->failed = "listening on 127.0.0.1";
    return fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one))
                   || bind(fd, (void *)&pr->address, sizeof(pr->address))
                   || listen(fd, 2 * PROBE_ROUNDS)
                   || getsockname(fd, (void *)&pr->address, &len)
               ? -1
               : 0;
}

/* One connection from here. @return the index of the socket that got it, -1
 * if none did */
static int probe_connect(probe *pr)
{
    struct linger reset = {1, 0};
    struct timeval patience = {PROBE_WAIT / 1000, 0};
    struct pollfd polled[PROBE_CPUS];
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int got = -1, i;

    pr->failed = "connecting to 127.0.0.1";
    if (fd < 0) {
        return -1;
    }
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    if (!connect(fd, (void *)&pr->address, sizeof(pr->address))) {
        for (i = 0; i < pr->n; i++) {
            polled[i] = (struct pollfd){pr->fds[i], POLLIN, 0};
        }
        if (poll(polled, (nfds_t)pr->n, PROBE_WAIT) > 0) {
            for (i = 0; i < pr->n && got < 0; i++) {
                got = polled[i].revents & POLLIN ? i : -1;
            }
        }
        if (got >= 0) {
            int accepted = accept4(pr->fds[got], NULL, NULL, SOCK_CLOEXEC);

            if (accepted >= 0) {
                close(accepted);
            }
        }
    }
    close(fd);
    return got;
}

/* @return 1: every connection arrived where it should; 0: not; -1 with errno:
 * a system call failed */
static int probe_method(probe *pr, steer_method method, const steermap *map)
{
    cpuset *one = hwloc_bitmap_alloc();
    int rv = steer_apply(pr->fds, pr->n, pr->n, method, map, &pr->failed);
    int i, round;

    rv = rv ? -1 : 1;
    for (i = 0; i < pr->n && rv > 0; i++) {
        hwloc_bitmap_only(one, (unsigned)pr->cpus[i]);
        if (pin_set(0, one, NULL)) {
            pr->failed = "sched_setaffinity";
            rv = -1;
        }
        for (round = 0; round < PROBE_ROUNDS && rv > 0; round++) {
            int got = probe_connect(pr);

            rv = got < 0 ? -1 : got == i;
        }
    }
    hwloc_bitmap_free(one);
    return rv;
}

/* Chooses CPUs, at most PROBE_CPUS, far apart and not in the order of the
 * sockets, so that a match is not a coincidence. */
static int probe_cpus(probe *pr, apr_pool_t *p, const cpuset *allowed,
                      const cpuset **sets)
{
    int weight = hwloc_bitmap_weight(allowed);
    int n = weight < PROBE_CPUS ? weight : PROBE_CPUS;
    int seen = 0, cpu = -1, i;

    while (pr->n < n) {
        cpu = hwloc_bitmap_next(allowed, cpu);
        if (seen++ == pr->n * weight / n) {
            pr->cpus[pr->n++] = cpu;
        }
    }
    for (i = 0; i < n / 2; i++) {
        int other = pr->cpus[n - 1 - i];

        pr->cpus[n - 1 - i] = pr->cpus[i];
        pr->cpus[i] = other;
    }
    for (i = 0; i < n; i++) {
        cpuset *set = cpuset_make(p);

        hwloc_bitmap_only(set, (unsigned)pr->cpus[i]);
        sets[i] = set;
    }
    return n;
}

steer_method steer_apply_probe(apr_pool_t *p, const cpuset *allowed, int single,
                               const char **reason)
{
    probe pr = {.address = {.sin_family = AF_INET,
                            .sin_addr = {htonl(INADDR_LOOPBACK)}}};
    const cpuset *sets[PROBE_CPUS];
    steer_method method = STEER_NONE;
    cpuset *mask = cpuset_make(p);
    int rv = 0, made = 0, n = probe_cpus(&pr, p, allowed, sets);
    steermap *map = steer_map_make(p, sets, n);

    pr.failed = "sched_getaffinity";
    if (n < 2) {
        *reason = "there is only one CPU";
        return STEER_NONE;
    }
    rv = pin_get(0, mask);
    while (made < n && !rv) {
        rv = probe_listen(&pr, made++);
    }
    if (!rv && single
        && (rv = probe_method(&pr, STEER_INCOMING_CPU, map)) > 0) {
        method = STEER_INCOMING_CPU;
    }
    else if (made == n && (rv = probe_method(&pr, STEER_CBPF, map)) > 0) {
        method = STEER_CBPF;
    }
    if (rv < 0) {
        *reason = apr_psprintf(p, "%s: %s", pr.failed, strerror(errno));
    }
    else if (!rv) {
        *reason = "connections over loopback do not reach the socket of the "
                  "CPU that they come from";
    }
    while (made) {
        close(pr.fds[--made]);
    }
    pin_set(0, mask, NULL);
    return method;
}
