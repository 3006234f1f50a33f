/* SPDX-License-Identifier: Apache-2.0 */
/* channel: connections over a socket pair.
 * links: src/listen/fd_channel.c src/handoff/handoff.c
 */
#include "t/unit/tap.h"
#include "listen/fd_channel.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int open_descriptors(void)
{
    int fd, n = 0;

    for (fd = 0; fd < 512; fd++) {
        n += fcntl(fd, F_GETFD) >= 0;
    }
    return n;
}

/* A TCP connection over loopback. */
static void tcp_pair(int family, int *client, int *server)
{
    addr a = {.any = {.sa_family = (sa_family_t)family}};
    socklen_t len = addr_len(&a);
    int l = socket(family, SOCK_STREAM, 0);

    if (family == AF_INET) {
        a.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    }
    else {
        a.in6.sin6_addr = in6addr_loopback;
    }
    bind(l, &a.any, len);
    listen(l, 4);
    getsockname(l, &a.any, &len);
    *client = socket(family, SOCK_STREAM, 0);
    if (connect(*client, &a.any, len)) {
        perror("connect");
        exit(1);
    }
    *server = accept(l, NULL, NULL);
    close(l);
}

static int receive(const fd_channel *m)
{
    handoff p;
    int rc = fd_channel_receive(m, &p);

    handoff_drop(&p);
    return rc;
}

static void round_trip(const fd_channel *m, int family, const char *name)
{
    int client, server, got;
    addr mine;
    socklen_t len = sizeof(mine);
    char text[8] = "";
    handoff p;

    tcp_pair(family, &client, &server);
    getsockname(client, &mine.any, &len);
    handoff_init(&p);
    p.fd = server;
    p.keepalives = 7;
    p.deadline = 123456789012;
    p.bytes = malloc(5);
    memcpy(p.bytes, "GET /", 5);
    p.len = 5;
    is_int(fd_channel_send(m, &p), 0, name);
    ok(p.fd == -1 && !p.bytes, "the sender has nothing left");
    ok(fcntl(server, F_GETFD) < 0, "its descriptor is closed");
    got = fd_channel_receive(m, &p);
    is_int(got, 1, "received");
    ok(p.len == 5 && !memcmp(p.bytes, "GET /", 5), "bytes");
    ok(p.keepalives == 7 && p.deadline == 123456789012 && p.moved && !p.idle,
       "keepalives, deadline, moved");
    ok(addr_len(&p.remote) == len && !memcmp(&p.remote, &mine, len),
       "the client's address and port");
    ok(fcntl(p.fd, F_GETFD) & FD_CLOEXEC, "close-on-exec");
    ok(send(client, "hello", 5, 0) == 5 && recv(p.fd, text, 8, 0) == 5,
       "it is the same connection");
    handoff_drop(&p);
    is_int(recv(client, text, 1, 0), 0, "the client sees its end");
    close(client);
    is_int(fd_channel_receive(m, &p), 0, "nothing more");
}

/* Sends raw bytes and any number of copies of a descriptor. */
static void raw(const fd_channel *m, const void *bytes, size_t len, int fd,
                int n)
{
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(16 * sizeof(int))];
    } room;
    struct iovec part = {(void *)bytes, len};
    struct msghdr msg = {.msg_iov = &part, .msg_iovlen = 1};
    int i;

    memset(&room, 0, sizeof(room));
    if (n) {
        struct cmsghdr *c;

        msg.msg_control = &room;
        msg.msg_controllen = CMSG_SPACE((size_t)n * sizeof(int));
        c = CMSG_FIRSTHDR(&msg);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN((size_t)n * sizeof(int));
        for (i = 0; i < n; i++) {
            memcpy(CMSG_DATA(c) + (size_t)i * sizeof(int), &fd, sizeof(fd));
        }
    }
    if (sendmsg(m->to, &msg, 0) < 0) {
        perror("sendmsg");
    }
}

/* A true message, to be spoiled: read from a pair without descriptors. */
static size_t sample(char *bytes, size_t room, int fd)
{
    fd_channel m;
    handoff p;
    ssize_t n;

    fd_channel_make(&m);
    handoff_init(&p);
    p.fd = dup(fd);
    p.bytes = malloc(4);
    memcpy(p.bytes, "abcd", 4);
    p.len = 4;
    fd_channel_send(&m, &p);
    n = recv(m.from, bytes, room, 0);
    fd_channel_close(&m);
    return (size_t)n;
}

static void hostile(const fd_channel *m)
{
    char bytes[64], bad[64], *long_one;
    int client, server, pipes[2], before;
    size_t len;

    tcp_pair(AF_INET, &client, &server);
    len = sample(bytes, sizeof(bytes), server);
    before = open_descriptors();

    raw(m, bytes, len, server, 1);
    is_int(receive(m), 1, "a true message");
    raw(m, bytes, len, server, 2);
    is_int(receive(m), -1, "two descriptors");
    is_int(errno, EPROTO, "EPROTO");
    raw(m, bytes, len, server, 16);
    is_int(receive(m), -1, "more than there is room for");
    raw(m, bytes, len, -1, 0);
    is_int(receive(m), -1, "no descriptor");
    raw(m, bytes, 3, server, 1);
    is_int(receive(m), -1, "shorter than a header");
    raw(m, bytes, len - 1, server, 1);
    is_int(receive(m), -1, "fewer bytes than it says");
    memcpy(bad, bytes, len);
    bad[len] = 'x';
    raw(m, bad, len + 1, server, 1);
    is_int(receive(m), -1, "more bytes than it says");
    bad[0] ^= 1;
    raw(m, bad, len, server, 1);
    is_int(receive(m), -1, "another magic");
    memcpy(bad, bytes, len);
    memset(bad + 8, 255, 4);
    raw(m, bad, len, server, 1);
    is_int(receive(m), -1, "more requests than an int counts");
    memcpy(bad, bytes, len);
    memset(bad + 16, 127, 8);
    raw(m, bad, len, server, 1);
    is_int(receive(m), -1, "a deadline beyond all time");
    bad[23] = (char)255;
    raw(m, bad, len, server, 1);
    is_int(receive(m), -1, "or before it");
    long_one = calloc(1, 2 * HANDOFF_BYTES);
    memcpy(long_one, bytes, len);
    raw(m, long_one, 2 * HANDOFF_BYTES, server, 1);
    is_int(receive(m), -1, "longer than any");
    free(long_one);
    if (pipe(pipes)) {
        perror("pipe");
    }
    raw(m, bytes, len, pipes[0], 1);
    is_int(receive(m), -1, "a pipe");
    raw(m, bytes, len, m->to, 1);
    is_int(receive(m), -1, "the channel itself");
    close(pipes[0]);
    close(pipes[1]);
    is_int(open_descriptors(), before, "no descriptor is left open");
    close(client);
    close(server);
}

static void full(const fd_channel *m)
{
    int client, server, sent = 0, rc = 0, got = 0;
    handoff p;

    tcp_pair(AF_INET, &client, &server);
    while (sent < 20000 && !rc) {
        handoff_init(&p);
        p.fd = dup(server);
        p.idle = 1;
        rc = fd_channel_send(m, &p);
        sent += !rc;
    }
    ok(rc == -1 && (errno == EAGAIN || errno == ETOOMANYREFS),
       "it is full at some time: errno %d", errno);
    ok(p.fd >= 0, "and the connection is still the sender's");
    handoff_drop(&p);
    ok(sent > 100, "%d connections fitted", sent);
    while (fd_channel_receive(m, &p) == 1) {
        got += p.idle;
        handoff_drop(&p);
    }
    is_int(got, sent, "all arrive");
    close(client);
    close(server);
}

/* The reason for it all: the sender ends, the connection lives on. */
static void survive(const fd_channel *m)
{
    int client, server;
    char c = 0;
    handoff p;
    pid_t pid;

    tcp_pair(AF_INET, &client, &server);
    pid = fork();
    if (!pid) {
        handoff_init(&p);
        p.fd = server;
        _exit(fd_channel_send(m, &p) != 0);
    }
    close(server);
    waitpid(pid, NULL, 0);
    is_int(fd_channel_receive(m, &p), 1, "a process that ended had sent it");
    ok(send(p.fd, "!", 1, 0) == 1 && recv(client, &c, 1, 0) == 1 && c == '!',
       "the connection lives");
    handoff_drop(&p);
    close(client);
}

static void gone(const fd_channel *m)
{
    struct linger hard = {1, 0};
    int client, server;
    handoff p;

    tcp_pair(AF_INET, &client, &server);
    setsockopt(client, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
    handoff_init(&p);
    p.fd = server;
    fd_channel_send(m, &p);
    close(client);
    is_int(fd_channel_receive(m, &p), -1, "a client that reset is dropped");
    is_int(p.fd, -1, "nothing to close");
}

int main(void)
{
    fd_channel m;
    handoff p;

    is_int(fd_channel_make(&m), 0, "make");
    is_int(fd_channel_receive(&m, &p), 0, "nothing there");
    round_trip(&m, AF_INET, "send, IPv4");
    round_trip(&m, AF_INET6, "send, IPv6");
    handoff_init(&p);
    p.bytes = malloc(HANDOFF_BYTES + 1);
    p.len = HANDOFF_BYTES + 1;
    p.fd = dup(0);
    is_int(fd_channel_send(&m, &p), -1, "too many bytes");
    is_int(errno, EMSGSIZE, "EMSGSIZE");
    handoff_drop(&p);
    hostile(&m);
    full(&m);
    survive(&m);
    gone(&m);
    fd_channel_close(&m);
    is_int(m.to, -1, "closed");
    return done();
}
