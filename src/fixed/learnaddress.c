#include "fixed/learn.h"

#include "http_core.h"
#include "http_protocol.h"

#include <netinet/in.h>

#include "fixed/learnserver.h"

/* An address, taken apart; port in host order. */
typedef struct endpoint {
    int family;
    const void *ip;
    size_t len;
    apr_port_t port;
} endpoint;

static endpoint of_sockaddr(const struct sockaddr *sa)
{
    const struct sockaddr_in6 *in6 = (const void *)sa;
    const struct sockaddr_in *in = (const void *)sa;
    endpoint e = {sa->sa_family, NULL, 0, 0};

    if (sa->sa_family == AF_INET6) {
        e.ip = &in6->sin6_addr;
        e.len = sizeof(in6->sin6_addr);
        e.port = ntohs(in6->sin6_port);
    }
    else if (sa->sa_family == AF_INET) {
        e.ip = &in->sin_addr;
        e.len = sizeof(in->sin_addr);
        e.port = ntohs(in->sin_port);
    }
    return e;
}

static int is_any(const endpoint *e)
{
    static const char zero[16];

    return e->len == 0 || !memcmp(e->ip, zero, e->len);
}

/* May a connection to @a local reach the vhost? Unsure is yes. */
static int reaches(const endpoint *local, const server_rec *s)
{
    const server_addr_rec *a;

    if (!s->is_virtual) {
        return 1; /* the main server answers what no vhost does */
    }
    for (a = s->addrs; a; a = a->next) {
        endpoint e = of_sockaddr((const struct sockaddr *)&a->host_addr->sa);

        if (a->host_port && a->host_port != local->port) {
            continue;
        }
        if (is_any(&e) || is_any(local) || e.family != local->family
            || !memcmp(e.ip, local->ip, e.len)) {
            return 1;
        }
    }
    return 0;
}

static void lower(unsigned *limit, int value)
{
    if ((unsigned)value < *limit) {
        *limit = (unsigned)value;
    }
}

/* A field count of 0 is no limit. */
static void lower_fields(unsigned *limit, int value)
{
    if (value > 0 && (*limit == 0 || (unsigned)value < *limit)) {
        *limit = (unsigned)value;
    }
}

/* The times of the address's default vhost: httpd uses them until it has read
 * a Host. */
static void take_times(learn_address *a, const learnserver *s)
{
    a->timeout = apr_time_as_msec(s->server->timeout);
    a->header_first = s->header_first;
    a->header_max = s->header_max;
    a->header_rate = s->header_rate;
}

static int is_plain_http(const learnserver *s)
{
    const char *protocol = ap_get_server_protocol((server_rec *)s->server);

    return !s->tls && !s->proxied
           && (!protocol || !*protocol || !strcasecmp(protocol, "http"));
}

/* Behind a wildcard the default vhost depends on the address that a client
 * connects to, and with it the time for the first request. @return 0 when two
 * of them give different times */
static int same_times(const learnserver *a, const learnserver *b)
{
    return a->server->timeout == b->server->timeout
           && a->header_first == b->header_first
           && a->header_max == b->header_max
           && a->header_rate == b->header_rate;
}

/* Has the vhost an address of its own? */
static int is_by_address(const server_rec *s)
{
    const server_addr_rec *a;

    for (a = s->is_virtual ? s->addrs : NULL; a; a = a->next) {
        endpoint e = of_sockaddr((const struct sockaddr *)&a->host_addr->sa);

        if (!is_any(&e)) {
            return 1;
        }
    }
    return 0;
}

/* Is the time for the first request one and the same for all? */
static int has_one_time(const endpoint *local, const learnserver *first)
{
    const learnserver *s;
    unsigned i;

    if (!is_any(local)) {
        return 1;
    }
    for (i = 0; (s = learnserver_at(i)); i++) {
        if (reaches(local, s->server) && is_by_address(s->server)
            && !same_times(s, first)) {
            return 0;
        }
    }
    return 1;
}

const learn_address *learn_address_make(apr_pool_t *p,
                                        const struct sockaddr *local,
                                        const char *protocol)
{
    learn_address *a = apr_pcalloc(p, sizeof(*a));
    endpoint e = of_sockaddr(local);
    const learnserver *s, *first = NULL;
    int plain = !protocol || !*protocol || !strcasecmp(protocol, "http");
    unsigned i;

    a->limits.line = a->limits.fieldsize = (unsigned)-1;
    for (i = 0; (s = learnserver_at(i)); i++) {
        if (!reaches(&e, s->server)) {
            continue;
        }
        a->reads |= s->wanted && s->reason == LEARN_OK;
        plain &= is_plain_http(s);
        lower(&a->limits.line, s->server->limit_req_line);
        lower(&a->limits.fieldsize, s->server->limit_req_fieldsize);
        lower_fields(&a->limits.fields, s->server->limit_req_fields);
        /* The first vhost comes before the main server. */
        if (!first || (!first->server->is_virtual && s->server->is_virtual)) {
            first = s;
        }
    }
    a->reads &= plain;
    if (first) {
        a->reads &= has_one_time(&e, first);
        take_times(a, first);
    }
    return a;
}
