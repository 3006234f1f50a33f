/*
 * A worker sleeps PAUSE milliseconds after each writev() to a socket, as if
 * another thread had the CPU just then: the client has its answer and goes
 * on before httpd does. Loaded into httpd by LD_PRELOAD.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

ssize_t writev(int fd, const struct iovec *parts, int nparts)
{
    ssize_t (*real)(int, const struct iovec *, int);
    const char *pause = getenv("PAUSE");
    struct stat st;
    ssize_t n;
    int error;

    *(void **)&real = dlsym(RTLD_NEXT, "writev");
    n = real(fd, parts, nparts);
    error = errno;
    if (pause && !fstat(fd, &st) && S_ISSOCK(st.st_mode)) {
        usleep((unsigned)atoi(pause) * 1000);
    }
    errno = error;
    return n;
}
