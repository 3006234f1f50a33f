/* SPDX-License-Identifier: Apache-2.0 */
/* links: src/listen/listensock.c
 * A further socket of a listening socket's group is like the first. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include "listen/listensock.h"
#include "t/unit/tap.h"

static int option(int fd, int level, int name)
{
    int value = -1;
    socklen_t len = sizeof(value);

    return getsockopt(fd, level, name, &value, &len) ? -1 : value;
}

static void set(int fd, int level, int name, int value)
{
    setsockopt(fd, level, name, &value, sizeof(value));
}

static int bound(int family, int backlog)
{
    union {
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
    } sa = {.in = {.sin_family = AF_INET}};
    int fd = socket(family, SOCK_STREAM, 0);

    if (family == AF_INET6) {
        memset(&sa, 0, sizeof(sa));
        sa.in6.sin6_family = AF_INET6;
        set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
    }
    else {
        sa.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    }
    set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(fd, SOL_SOCKET, SO_SNDBUF, 70000);
    set(fd, SOL_SOCKET, SO_RCVBUF, 60000);
    set(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, 30);
    set(fd, IPPROTO_IP, IP_FREEBIND, 1);
    if (bind(fd, (void *)&sa,
             family == AF_INET6 ? sizeof(sa.in6) : sizeof(sa.in))
        || listen(fd, backlog)) {
        return -1;
    }
    return fd;
}

static void alike(int family, const char *name)
{
    static const struct {
        int level, name;
        const char *text;
    } same[] = {{SOL_SOCKET, SO_REUSEADDR, "SO_REUSEADDR"},
                {SOL_SOCKET, SO_REUSEPORT, "SO_REUSEPORT"},
                {SOL_SOCKET, SO_KEEPALIVE, "SO_KEEPALIVE"},
                {SOL_SOCKET, SO_SNDBUF, "SO_SNDBUF"},
                {SOL_SOCKET, SO_RCVBUF, "SO_RCVBUF"},
                {SOL_SOCKET, SO_PROTOCOL, "SO_PROTOCOL"},
                {SOL_SOCKET, SO_DOMAIN, "SO_DOMAIN"},
                {IPPROTO_TCP, TCP_DEFER_ACCEPT, "TCP_DEFER_ACCEPT"},
                {IPPROTO_IP, IP_FREEBIND, "IP_FREEBIND"},
                {IPPROTO_IPV6, IPV6_V6ONLY, "IPV6_V6ONLY"}};
    struct sockaddr_storage a, b;
    socklen_t la = sizeof(a), lb = sizeof(b);
    const char *failed = "";
    char text[LISTENSOCK_NAME];
    int model = bound(family, 33), fd, backlog = 0, waiting = -1;
    size_t i;

    fd = listensock_like(model, &failed);
    ok(fd < 0 && errno == EADDRINUSE && !strcmp(failed, "bind"),
       "%s: not beside a socket that is not shared", name);
    ok(!listensock_share(model), "%s: which listens already", name);
    fd = listensock_like(model, &failed);
    if (!ok(fd >= 0, "%s: beside a shared one (%s)", name, failed)) {
        return;
    }
    for (i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
        ok(option(fd, same[i].level, same[i].name)
               == option(model, same[i].level, same[i].name),
           "%s: %s is %d", name, same[i].text,
           option(fd, same[i].level, same[i].name));
    }
    getsockname(model, (void *)&a, &la);
    getsockname(fd, (void *)&b, &lb);
    ok(la == lb && !memcmp(&a, &b, la), "%s: the same address, %s", name,
       listensock_name(&b, lb, text));
    ok(!listensock_queue(fd, &waiting, &backlog) && backlog == 33 && !waiting,
       "%s: the same backlog, an empty queue", name);
    ok(fcntl(fd, F_GETFD) & FD_CLOEXEC && fcntl(fd, F_GETFL) & O_NONBLOCK,
       "%s: close-on-exec, non-blocking", name);
    ok(!listensock_is_same(fd, model), "%s: another socket", name);
    close(fd);
    close(model);
}

/* Connections that wait are counted, wherever the kernel put them. */
static void queues(void)
{
    struct sockaddr_storage sa;
    socklen_t len = sizeof(sa);
    const char *failed;
    int fds[2], clients[5], i, waiting, all = 0, copy;

    fds[0] = bound(AF_INET, 10);
    set(fds[0], IPPROTO_TCP, TCP_DEFER_ACCEPT, 0);
    listensock_share(fds[0]);
    fds[1] = listensock_like(fds[0], &failed);
    getsockname(fds[0], (void *)&sa, &len);
    for (i = 0; i < 5; i++) {
        clients[i] = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(clients[i], (void *)&sa, len)) {
            clients[i] = -1;
        }
    }
    for (i = 0; i < 2; i++) {
        struct pollfd p = {fds[i], POLLIN, 0};

        poll(&p, 1, 100);
        all += listensock_queue(fds[i], &waiting, NULL) ? 0 : waiting;
    }
    is_int(all, 5, "five wait in both queues");
    copy = listensock_dup(fds[0]);
    ok(copy >= 3 && listensock_is_same(copy, fds[0]),
       "a duplicate is the same");
    ok(fcntl(fds[0], F_GETFL) & O_NONBLOCK, "and both are non-blocking");
    is_int(listensock_queue(clients[0], NULL, NULL), -1,
           "a connection has no queue");
    shutdown(copy, SHUT_RDWR);
    is_int(listensock_queue(fds[0], NULL, NULL), -1,
           "nor has a socket that was shut down");
    for (i = 0; i < 5; i++) {
        close(clients[i]);
    }
    close(copy);
    close(fds[0]);
    close(fds[1]);
    is_int(listensock_is_same(-1, -1), 0, "no descriptor, no socket");
}

int main(void)
{
    alike(AF_INET, "IPv4");
    if (access("/proc/net/if_inet6", F_OK)) {
        ok(1, "IPv6 # SKIP there is none");
    }
    else {
        alike(AF_INET6, "IPv6");
    }
    queues();
    return done();
}
