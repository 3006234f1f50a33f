/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/source.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <apr_network_io.h>
#include <apr_strings.h>

#include "cli/advise_text.h"
#include "cli/cli.h"

#define MOST ((size_t)64 << 20)
#define PATIENCE apr_time_from_sec(10)
#define HTTP "http://"

/* What has been read. */
typedef struct bytes {
    char *text; /* from malloc */
    size_t len;
    size_t size;
} bytes;

/* Room for more. @return 0, or -1: there is too much */
static int grow(bytes *b)
{
    char *text;

    if (b->len < b->size) {
        return 0;
    }
    b->size = b->size ? 2 * b->size : 65536;
    text = b->size <= MOST ? realloc(b->text, b->size) : NULL;
    if (!text) {
        errno = EFBIG;
        return -1;
    }
    b->text = text;
    return 0;
}

static int read_all(int fd, bytes *b)
{
    ssize_t n;

    do {
        if (grow(b)) {
            return -1;
        }
        n = read(fd, b->text + b->len, b->size - b->len);
        b->len += n > 0 ? (size_t)n : 0;
    } while (n > 0 || (n < 0 && errno == EINTR));
    return n < 0 ? -1 : 0;
}

static int read_file(const char *name, bytes *b)
{
    int own = strcmp(name, "-") != 0;
    int fd = own ? open(name, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    int rc = fd < 0 ? -1 : read_all(fd, b);

    if (rc) {
        cli_fail("%s: %s", name, strerror(errno));
    }
    if (own && fd >= 0) {
        close(fd);
    }
    return rc;
}

/* Before each step: no more than what is left of the time. */
static apr_status_t hurry(apr_socket_t *s, apr_time_t end)
{
    apr_interval_time_t left = end - apr_time_now();

    return left > 0 ? apr_socket_timeout_set(s, left) : APR_TIMEUP;
}

static apr_status_t connect_to(apr_pool_t *p, const char *host, apr_port_t port,
                               apr_time_t end, apr_socket_t **s)
{
    apr_sockaddr_t *a;
    apr_status_t rv = apr_sockaddr_info_get(&a, host, APR_UNSPEC, port, 0, p);

    for (; rv == APR_SUCCESS && a; a = a->next) {
        rv = apr_socket_create(s, a->family, SOCK_STREAM, APR_PROTO_TCP, p);
        if (rv == APR_SUCCESS) {
            rv = hurry(*s, end);
        }
        if (rv == APR_SUCCESS) {
            rv = apr_socket_connect(*s, a);
        }
        if (rv == APR_SUCCESS) {
            return rv;
        }
        if (a->next) {
            rv = APR_SUCCESS;
        }
    }
    return rv;
}

/* HTTP/1.0, so that the answer ends with the connection. */
static apr_status_t ask(apr_socket_t *s, const char *request, apr_time_t end,
                        bytes *b)
{
    size_t left = strlen(request);
    apr_status_t rv = APR_SUCCESS;

    while (left && rv == APR_SUCCESS) {
        apr_size_t n = left;

        rv = hurry(s, end);
        if (rv == APR_SUCCESS) {
            rv = apr_socket_send(s, request, &n);
            request += n;
            left -= n;
        }
    }
    while (rv == APR_SUCCESS) {
        apr_size_t n;

        if (grow(b)) {
            return APR_ENOMEM;
        }
        n = b->size - b->len;
        rv = hurry(s, end);
        if (rv == APR_SUCCESS) {
            rv = apr_socket_recv(s, b->text + b->len, &n);
            b->len += n;
        }
    }
    return APR_STATUS_IS_EOF(rv) ? APR_SUCCESS : rv;
}

/* Takes the head away. 0, or -1: said why */
static int take_head(const char *name, bytes *b)
{
    const char *end = b->len ? memmem(b->text, b->len, "\r\n\r\n", 4) : NULL;
    size_t head;

    if (!end || b->len < 12 || memcmp(b->text, "HTTP/1.", 7) != 0) {
        cli_fail("%s: no answer of HTTP", name);
        return -1;
    }
    head = (size_t)(end - b->text);
    if (memcmp(b->text + 8, " 200", 4) != 0) {
        int status = isdigit((unsigned char)b->text[9]) ? atoi(b->text + 9) : 0;

        cli_fail("%s: the server answered %d", name, status);
        return -1;
    }
    b->text[head] = '\0';
    if (strcasestr(b->text, "\r\nTransfer-Encoding:")) {
        cli_fail("%s: an answer in chunks; curl -s URL | cpuaffinity advise - "
                 "takes it apart",
                 name);
        return -1;
    }
    b->len -= head + 4;
    memmove(b->text, end + 4, b->len);
    return 0;
}

static int read_url(apr_pool_t *p, const char *name, bytes *b)
{
    const char *at = name + strlen(HTTP), *path = strchr(at, '/');
    char *where = path ? apr_pstrmemdup(p, at, (size_t)(path - at)) : NULL;
    apr_time_t end = apr_time_now() + PATIENCE;
    char *host = NULL, *scope, text[120];
    apr_socket_t *s = NULL;
    apr_port_t port = 0;
    const char *c;
    apr_status_t rv;

    for (c = name; *c > ' ' && *c < 0x7f; c++) {
    }
    if (*c || !where || strpbrk(where, "@")
        || apr_parse_addr_port(&host, &scope, &port, where, p) || !host
        || scope) {
        cli_fail("'%s' is not of the form " HTTP "HOST[:PORT]/PATH", name);
        return -1;
    }
    rv = connect_to(p, host, port ? port : 80, end, &s);
    if (rv == APR_SUCCESS) {
        rv = ask(s,
                 apr_psprintf(p,
                              "GET %s%s HTTP/1.0\r\nHost: %s\r\n"
                              "User-Agent: cpuaffinity\r\n\r\n",
                              path, strchr(path, '?') ? "" : "?json", where),
                 end, b);
    }
    if (rv != APR_SUCCESS) {
        cli_fail("%s: %s", name, apr_strerror(rv, text, sizeof(text)));
        return -1;
    }
    return take_head(name, b);
}

json_t *source_read(apr_pool_t *p, const char *name)
{
    bytes b = {NULL, 0, 0};
    json_error_t error;
    json_t *json = NULL;
    int rc;

    if (!strncasecmp(name, "https://", 8)) {
        cli_fail("%s: no TLS here; curl -s URL | cpuaffinity advise - has it",
                 name);
        return NULL;
    }
    rc = !strncasecmp(name, HTTP, strlen(HTTP)) ? read_url(p, name, &b)
                                                : read_file(name, &b);
    if (!rc) {
        json = json_loadb(b.text ? b.text : "", b.len, 0, &error);
        if (!json) {
            cli_fail("%s: line %d is not JSON: %s", name, error.line,
                     advise_text_safe(p, error.text));
        }
    }
    free(b.text);
    return json;
}
