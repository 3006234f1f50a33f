/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/address.h"

#include "http_core.h"
#include "http_protocol.h"
#include "ap_listen.h"
#include "apr_strings.h"

#include <netinet/in.h>

#include "conf/config.h"
#include "learn/vhost.h"
#include "tls/keep.h"

/* An address, taken apart; port in host order. An IPv4-mapped address is the
 * IPv4 address, as for httpd. */
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

    if (sa->sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr)) {
        e.family = AF_INET;
        e.ip = in6->sin6_addr.s6_addr + 12;
        e.len = sizeof(in->sin_addr);
        e.port = ntohs(in6->sin6_port);
    }
    else if (sa->sa_family == AF_INET6) {
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

/* Of their ports nothing is said. */
static int is_same(const endpoint *a, const endpoint *b)
{
    return a->len == b->len && !memcmp(a->ip, b->ip, a->len);
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
        if (is_any(&e) || is_any(local) || is_same(&e, local)) {
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
static void take_times(address *a, const vhost *s)
{
    a->timeout = apr_time_as_msec(s->server->timeout);
    a->header_first = s->header_first;
    a->header_max = s->header_max;
    a->header_rate = s->header_rate;
}

static int is_plain_http(const vhost *s)
{
    const char *protocol = ap_get_server_protocol((server_rec *)s->server);

    return !s->tls && !s->proxied
           && (!protocol || !*protocol || !strcasecmp(protocol, "http"));
}

/* Do they give the same time for the first request? */
static int same_times(const vhost *a, const vhost *b)
{
    return a->server->timeout == b->server->timeout
           && a->header_first == b->header_first
           && a->header_max == b->header_max
           && a->header_rate == b->header_rate;
}

/* How httpd chooses an address's default vhost, whose times count until a Host
 * was read: the first in the configuration of the highest of these. */
typedef enum rank {
    RANK_MAIN, /* the main server */
    RANK_ANY,  /* *:* */
    RANK_PORT, /* *:80 */
    RANK_ADDRESS,
    RANK_EXACT /* address and port */
} rank;

static rank rank_of(const endpoint *local, const server_rec *s)
{
    const server_addr_rec *a;
    rank best = RANK_MAIN;

    for (a = s->is_virtual ? s->addrs : NULL; a; a = a->next) {
        endpoint e = of_sockaddr((const struct sockaddr *)&a->host_addr->sa);
        rank r = is_any(&e) ? RANK_ANY : RANK_ADDRESS;

        if (a->host_port && a->host_port != local->port) {
            continue;
        }
        if (r == RANK_ADDRESS && !is_same(&e, local)) {
            continue;
        }
        r += a->host_port != 0;
        best = r > best ? r : best;
    }
    return best;
}

/* The default vhost of an address; of a wildcard, that of the addresses that
 * no vhost has for itself. NULL: no server reaches it */
static const vhost *default_of(const endpoint *local)
{
    const vhost *s, *found = NULL;
    rank best = RANK_MAIN;
    unsigned i;

    /* httpd's list has the main server first, then the last vhost. */
    for (i = 0; (s = vhost_at(i)); i++) {
        rank r = rank_of(local, s->server);

        if (reaches(local, s->server) && r >= best
            && (r > RANK_MAIN || !s->server->is_virtual)) {
            found = s;
            best = r;
        }
    }
    return found;
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

/* Another vhost that may be the default one as well, with other times; NULL:
 * none. Behind a wildcard those with addresses of their own may; of those for
 * *:* and those for *:80 the one that httpd happened to see last. */
static const vhost *rival_of(const endpoint *local, const vhost *found)
{
    rank best = rank_of(local, found->server);
    const vhost *s;
    unsigned i;

    for (i = 0; (s = vhost_at(i)); i++) {
        rank r = rank_of(local, s->server);
        int other = r == RANK_ANY && best == RANK_PORT;

        if (is_any(local) && is_by_address(s->server)) {
            other = reaches(local, s->server);
        }
        if (other && !same_times(s, found)) {
            return s;
        }
    }
    return NULL;
}

static const char *name_of(const vhost *s)
{
    return s->server->server_hostname ? s->server->server_hostname
                                      : "the main server";
}

static void leave(apr_pool_t *p, address *a, const char *who, const char *what,
                  const char *advice)
{
    a->reads = a->keeps = 0;
    a->why = apr_pstrcat(p, who, what, NULL);
    a->advice = advice;
}

#define APART "an address of its own for what is not plain HTTP"
#define TLS "FixedTLS on, or an address of its own for what is plain HTTP"
#define TIMES                                                                  \
    "the same Timeout and RequestReadTimeout for both, or a Listen with an "   \
    "address for each"

/* What keeps a connection with TLS from the loop also when httpd has answered
 * on it: of the address; the rest is asked of each connection (keep). NULL:
 * nothing does */
static const char *never_kept(apr_pool_t *p, const endpoint *local,
                              const char *protocol)
{
    const char *lacks = keep_lacks();
    const vhost *s;
    unsigned i;

    if (!config_get(vhost_at(0)->server)->tls) {
        return " has TLS";
    }
    if (protocol && *protocol && strcasecmp(protocol, "http") != 0
        && strcasecmp(protocol, "https") != 0) {
        return " has TLS, and its Listen is for another protocol";
    }
    for (i = 0; (s = vhost_at(i)); i++) {
        if (reaches(local, s->server) && (s->proxied || s->upgrades)) {
            return s->proxied ? " has TLS and the PROXY protocol"
                              : " has SSLEngine optional";
        }
    }
    return lacks ? apr_pstrcat(p, " has TLS, and ", lacks, NULL) : NULL;
}

/* The first vhost behind it that has TLS; NULL: none. */
static const vhost *tls_of(const endpoint *local)
{
    const vhost *s;
    unsigned i;

    for (i = 0; (s = vhost_at(i)); i++) {
        if (reaches(local, s->server) && s->tls) {
            return s;
        }
    }
    return NULL;
}

/* What keeps the loop from reading, if there is something behind it. */
static void judge(apr_pool_t *p, address *a, const endpoint *local,
                  const char *protocol, const vhost *first)
{
    const vhost *s, *rival = first ? rival_of(local, first) : NULL;
    const vhost *tls = a->reads ? tls_of(local) : NULL;
    const char *why = tls ? never_kept(p, local, protocol) : NULL;
    unsigned i;

    if (!a->reads) {
        leave(p, a, "no virtual host behind it", " may repeat answers",
              "see what is said of each");
    }
    else if (why) {
        leave(p, a, name_of(tls), why, TLS);
    }
    else if (tls) {
        a->reads = 0;
        a->keeps = 1;
    }
    else if (protocol && *protocol && strcasecmp(protocol, "http") != 0) {
        leave(p, a, "its Listen is for ", protocol, APART);
    }
    for (i = 0; a->reads && (s = vhost_at(i)); i++) {
        if (reaches(local, s->server) && !is_plain_http(s)) {
            leave(p, a, name_of(s),
                  s->proxied ? " takes the PROXY protocol"
                             : " has another protocol",
                  APART);
        }
    }
    if ((a->reads || a->keeps) && rival) {
        leave(p, a, name_of(rival),
              " may be its default virtual host too, with other times", TIMES);
    }
}

const address *address_make(apr_pool_t *p, const struct sockaddr *local,
                            const char *protocol)
{
    address *a = apr_pcalloc(p, sizeof(*a));
    endpoint e = of_sockaddr(local);
    const vhost *s, *first = default_of(&e);
    unsigned i;

    a->limits.line = a->limits.fieldsize = (unsigned)-1;
    for (i = 0; (s = vhost_at(i)); i++) {
        if (!reaches(&e, s->server)) {
            continue;
        }
        a->reads |= s->wanted && s->reason == REASON_OK;
        lower(&a->limits.line, s->server->limit_req_line);
        lower(&a->limits.fieldsize, s->server->limit_req_fieldsize);
        lower_fields(&a->limits.fields, s->server->limit_req_fields);
    }
    judge(p, a, &e, protocol, first);
    if (first) {
        take_times(a, first);
    }
    return a;
}

const char *address_listen(apr_pool_t *p, unsigned n, const address **made)
{
    const ap_listen_rec *lr = ap_listeners;

    while (lr && (n || !lr->bind_addr)) {
        n -= lr->bind_addr != NULL;
        lr = lr->next;
    }
    if (!lr) {
        return NULL;
    }
    *made = address_make(p, (const struct sockaddr *)&lr->bind_addr->sa,
                         lr->protocol);
    return apr_psprintf(p, "%pI", lr->bind_addr);
}
