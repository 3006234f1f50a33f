/* SPDX-License-Identifier: Apache-2.0 */
#include "listen/listensock.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Options that accepted sockets inherit or that decide where a socket may be
 * bound. Copied where they differ from a new socket's. */
static const struct option {
    int level;
    int name;
    const char *text;
    int doubled; /* the kernel reports twice what was set */
} options[] = {
    {SOL_SOCKET, SO_REUSEADDR, "SO_REUSEADDR", 0},
    {SOL_SOCKET, SO_REUSEPORT, "SO_REUSEPORT", 0},
    {SOL_SOCKET, SO_KEEPALIVE, "SO_KEEPALIVE", 0},
    {SOL_SOCKET, SO_SNDBUF, "SO_SNDBUF", 1},
    {SOL_SOCKET, SO_RCVBUF, "SO_RCVBUF", 1},
    {SOL_SOCKET, SO_PRIORITY, "SO_PRIORITY", 0},
    {SOL_SOCKET, SO_MARK, "SO_MARK", 0},
    {IPPROTO_IP, IP_TOS, "IP_TOS", 0},
    {IPPROTO_IP, IP_TTL, "IP_TTL", 0},
    {IPPROTO_IP, IP_FREEBIND, "IP_FREEBIND", 0},
    {IPPROTO_IP, IP_TRANSPARENT, "IP_TRANSPARENT", 0},
    {IPPROTO_IPV6, IPV6_V6ONLY, "IPV6_V6ONLY", 0},
    {IPPROTO_IPV6, IPV6_TCLASS, "IPV6_TCLASS", 0},
    {IPPROTO_IPV6, IPV6_TRANSPARENT, "IPV6_TRANSPARENT", 0},
    {IPPROTO_TCP, TCP_DEFER_ACCEPT, "TCP_DEFER_ACCEPT", 0},
    {IPPROTO_TCP, TCP_NODELAY, "TCP_NODELAY", 0},
    {IPPROTO_TCP, TCP_MAXSEG, "TCP_MAXSEG", 0},
    {IPPROTO_TCP, TCP_KEEPIDLE, "TCP_KEEPIDLE", 0},
    {IPPROTO_TCP, TCP_KEEPINTVL, "TCP_KEEPINTVL", 0},
    {IPPROTO_TCP, TCP_KEEPCNT, "TCP_KEEPCNT", 0},
    {IPPROTO_TCP, TCP_USER_TIMEOUT, "TCP_USER_TIMEOUT", 0},
    {IPPROTO_TCP, TCP_SYNCNT, "TCP_SYNCNT", 0},
};

static int copy_options(int from, int to, const char **failed)
{
    size_t i;

    for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        const struct option *o = &options[i];
        int want = 0, have = 0;
        socklen_t len = sizeof(want);

        /* Unknown to this family or kernel: neither socket has it. */
        if (getsockopt(from, o->level, o->name, &want, &len)
            || getsockopt(to, o->level, o->name, &have, &len) || want == have) {
            continue;
        }
        if (o->doubled) {
            want /= 2;
        }
        if (setsockopt(to, o->level, o->name, &want, sizeof(want))) {
            *failed = o->text;
            return -1;
        }
    }
    return 0;
}

/* Copies the options that are strings. */
static int copy_words(int from, int to, const char **failed)
{
    static const struct option words[] = {
        {SOL_SOCKET, SO_BINDTODEVICE, "SO_BINDTODEVICE", 0},
        {IPPROTO_TCP, TCP_CONGESTION, "TCP_CONGESTION", 0}};
    size_t i;

    for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        char want[64] = "", have[64] = "";
        socklen_t len = sizeof(want) - 1, len2 = sizeof(have) - 1;

        if (getsockopt(from, words[i].level, words[i].name, want, &len)
            || getsockopt(to, words[i].level, words[i].name, have, &len2)
            || !strcmp(want, have)) {
            continue;
        }
        if (setsockopt(to, words[i].level, words[i].name, want,
                       (socklen_t)strlen(want))) {
            *failed = words[i].text;
            return -1;
        }
    }
    return 0;
}

int listensock_share(int fd)
{
    int one = 1;

    return setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one));
}

int listensock_dup(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK)) {
        return -1;
    }
    return fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

/* Binds and listens; the TCP Fast Open queue is set separately. */
static int start(int fd, int model, const struct sockaddr_storage *address,
                 socklen_t len, const char **failed)
{
    int backlog = 1, fast = 0;
    socklen_t size = sizeof(fast);

    *failed = "bind";
    if (bind(fd, (const void *)address, len)) {
        return -1;
    }
    *failed = "TCP_INFO";
    if (listensock_queue(model, NULL, &backlog)) {
        return -1;
    }
    *failed = "listen";
    if (listen(fd, backlog)) {
        return -1;
    }
    if (!getsockopt(model, IPPROTO_TCP, TCP_FASTOPEN, &fast, &size) && fast) {
        *failed = "TCP_FASTOPEN";
        return setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN, &fast, sizeof(fast));
    }
    return 0;
}

int listensock_like(int model, const char **failed)
{
    struct sockaddr_storage address = {0};
    socklen_t len = sizeof(address), size = sizeof(int);
    int protocol = 0, fd, saved;

    *failed = "getsockname";
    if (getsockname(model, (void *)&address, &len)
        || getsockopt(model, SOL_SOCKET, SO_PROTOCOL, &protocol, &size)) {
        return -1;
    }
    *failed = "socket";
    fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
                protocol);
    if (fd < 0) {
        return -1;
    }
    if (copy_options(model, fd, failed) || copy_words(model, fd, failed)
        || start(fd, model, &address, len, failed)) {
        saved = errno;
        close(fd);
        errno = saved;
        return -1;
    }
    return fd;
}

int listensock_queue(int fd, int *waiting, int *backlog)
{
    struct tcp_info info;
    socklen_t len = sizeof(info);

    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len)) {
        return -1;
    }
    if (info.tcpi_state != TCP_LISTEN) {
        errno = EINVAL;
        return -1;
    }
    /* On a listening socket these two are its queue and its backlog. */
    if (waiting) {
        *waiting = (int)info.tcpi_unacked;
    }
    if (backlog) {
        *backlog = (int)info.tcpi_sacked;
    }
    return 0;
}

int listensock_is_same(int a, int b)
{
    struct stat sa, sb;

    return !fstat(a, &sa) && !fstat(b, &sb) && sa.st_ino == sb.st_ino
           && sa.st_dev == sb.st_dev;
}

const char *listensock_name(const struct sockaddr_storage *address,
                            socklen_t len, char *name)
{
    char host[56] = "?", port[8] = "?";

    getnameinfo((const void *)address, len, host, sizeof(host), port,
                sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
    snprintf(name, LISTENSOCK_NAME,
             address->ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
    return name;
}
