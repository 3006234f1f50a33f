/* SPDX-License-Identifier: Apache-2.0 */
/* The least that answering a request costs here: an epoll loop per CPU that
 * receives, counts ends of requests and sends a prepared answer. No server:
 * it looks at no request, has no time limits, and gives up a connection whose
 * socket does not take an answer at once.
 *
 *   floor ADDRESS PORT FILE SERVER
 *
 * Its answer has httpd's bytes for FILE, with SERVER as the Server field.
 * Connections go to the loop on the CPU that received them: without that, a
 * request costs a third more.
 * Runs until SIGTERM or until its parent ends.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define AT_ONCE 64 /* answers in one send */
#define FDS 65536
#define DATE_AT 23 /* behind "HTTP/1.1 200 OK\r\nDate: " */
#define DATE_LEN 29

static struct sockaddr_in address;
static char *answers; /* AT_ONCE times the same */
static size_t answer_len;
static uint8_t matched[FDS]; /* bytes of "\r\n\r\n" seen, by descriptor */

static void fail(const char *what)
{
    fprintf(stderr, "floor: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void http_date(char *to, time_t t)
{
    struct tm tm;

    strftime(to, DATE_LEN + 1, "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&t, &tm));
}

/* The answer for the file, as httpd without modules that add to it. */
static void prepare(const char *path, const char *server)
{
    char head[1024], date[DATE_LEN + 1];
    FILE *file = fopen(path, "re");
    struct stat st;
    size_t head_len;

    if (!file || fstat(fileno(file), &st) == -1) {
        fail(path);
    }
    http_date(date, st.st_mtim.tv_sec);
    head_len = (size_t)snprintf(
        head, sizeof(head),
        "HTTP/1.1 200 OK\r\nDate: %s\r\nServer: %s\r\nLast-Modified: %s\r\n"
        "ETag: \"%llx-%llx\"\r\nAccept-Ranges: bytes\r\n"
        "Content-Length: %lld\r\nContent-Type: text/plain\r\n\r\n",
        date, server, date, (long long)st.st_size,
        (long long)st.st_mtim.tv_sec * 1000000 + st.st_mtim.tv_nsec / 1000,
        (long long)st.st_size);
    answer_len = head_len + (size_t)st.st_size;
    answers = malloc(AT_ONCE * answer_len);
    if (!answers || head_len >= sizeof(head)) {
        fail("memory");
    }
    memcpy(answers, head, head_len);
    if (fread(answers + head_len, 1, (size_t)st.st_size, file)
        != (size_t)st.st_size) {
        fail(path);
    }
    fclose(file);
    for (int i = 1; i < AT_ONCE; i++) {
        memcpy(answers + (size_t)i * answer_len, answers, answer_len);
    }
}

static void keep_date(void)
{
    static time_t last;
    struct timespec now;
    char date[DATE_LEN + 1];

    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    if (now.tv_sec != last) {
        last = now.tv_sec;
        http_date(date, last);
        for (int i = 0; i < AT_ONCE; i++) {
            memcpy(answers + (size_t)i * answer_len + DATE_AT, date, DATE_LEN);
        }
    }
}

static int count_requests(int fd, const char *p, ssize_t n)
{
    uint8_t m = matched[fd];
    int count = 0;

    for (const char *end = p + n; p < end; p++) {
        if (*p == "\r\n\r\n"[m]) {
            m++;
        }
        else {
            m = *p == '\r';
        }
        if (m == 4) {
            count++;
            m = 0;
        }
    }
    matched[fd] = m;
    return count;
}

static void serve(int fd)
{
    static char in[16384];
    ssize_t n = recv(fd, in, sizeof(in), 0);
    int left = n > 0 ? count_requests(fd, in, n) : 0;

    while (left > 0) {
        int now = left < AT_ONCE ? left : AT_ONCE;
        size_t bytes = (size_t)now * answer_len;

        if (send(fd, answers, bytes, MSG_NOSIGNAL) != (ssize_t)bytes) {
            n = 0;
            break;
        }
        left -= now;
    }
    if (n == 0 || (n == -1 && errno != EAGAIN && errno != EINTR)) {
        close(fd);
    }
}

static void take(int ep, int listener)
{
    int on = 1;
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    struct epoll_event ev = {.events = EPOLLIN, .data.fd = fd};

    if (fd == -1) {
        return;
    }
    if (fd >= FDS || epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev) == -1) {
        close(fd);
        return;
    }
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    matched[fd] = 0;
}

static void loop(int listener)
{
    struct epoll_event ev = {.events = EPOLLIN, .data.fd = listener};
    struct epoll_event events[256];
    int ep = epoll_create1(EPOLL_CLOEXEC);

    if (ep == -1 || epoll_ctl(ep, EPOLL_CTL_ADD, listener, &ev) == -1) {
        fail("epoll");
    }
    for (;;) {
        int n = epoll_wait(ep, events, 256, -1);

        keep_date();
        for (int i = 0; i < n; i++) {
            if (events[i].data.fd == listener) {
                take(ep, listener);
            }
            else {
                serve(events[i].data.fd);
            }
        }
    }
}

static int listen_here(void)
{
    /* the CPU's number is the listener's: they are opened in that order */
    struct sock_filter code[] = {
        {BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)(SKF_AD_OFF + SKF_AD_CPU)},
        {BPF_RET | BPF_A, 0, 0, 0},
    };
    struct sock_fprog steer = {2, code};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int on = 1;

    if (fd == -1
        || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == -1
        || setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) == -1
        || bind(fd, (struct sockaddr *)&address, sizeof(address)) == -1
        || listen(fd, 4096) == -1
        || setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &steer,
                      sizeof(steer))
               == -1) {
        fail("listen");
    }
    return fd;
}

static void start(int cpu)
{
    pid_t parent = getpid();
    int listener = listen_here();
    cpu_set_t set;

    switch (fork()) {
    case -1:
        fail("fork");
        return;
    case 0:
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        CPU_ZERO(&set);
        CPU_SET(cpu, &set);
        if (sched_setaffinity(0, sizeof(set), &set) == -1) {
            fail("affinity");
        }
        if (getppid() == parent) {
            loop(listener);
        }
        exit(1);
    default:
        return;
    }
}

int main(int argc, char **argv)
{
    cpu_set_t usable;

    if (argc != 5) {
        fprintf(stderr, "usage: floor ADDRESS PORT FILE SERVER\n");
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    address.sin_family = AF_INET;
    address.sin_port = htons((uint16_t)strtol(argv[2], NULL, 10));
    if (inet_pton(AF_INET, argv[1], &address.sin_addr) != 1) {
        fprintf(stderr, "floor: no address: %s\n", argv[1]);
        return 2;
    }
    prepare(argv[3], argv[4]);
    if (sched_getaffinity(0, sizeof(usable), &usable) == -1) {
        fail("affinity");
    }
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &usable)) {
            start(cpu);
        }
    }
    /* one that ends takes the others with it */
    (void)wait(NULL);
    return 1;
}
