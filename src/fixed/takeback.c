#include "fixed/takeback.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "apr_portable.h"
#include "http_connection.h"
#include "http_core.h"

#include "fixed/child.h"
#include "fixed/known.h"
#include "fixed/leave.h"
#include "fixed/static.h"

/* The client's bytes, left where they are. @return how many, or -1 */
static ssize_t peek(conn_rec *c, char *buf, size_t size)
{
    apr_socket_t *sock = ap_get_conn_socket(c);
    apr_os_sock_t fd;

    if (!sock || apr_os_sock_get(&fd, sock) != APR_SUCCESS) {
        return -1;
    }
    return recv(fd, buf, size, MSG_PEEK | MSG_DONTWAIT);
}

/* The connection's own address as the loop has it. 0 or -1 */
static int local_address(conn_rec *c, parcel_addr *a)
{
    memset(a, 0, sizeof(*a));
    if (c->local_addr->family == APR_INET) {
        a->in = c->local_addr->sa.sin;
        a->in.sin_family = AF_INET;
        return 0;
    }
    if (c->local_addr->family == APR_INET6) {
        a->in6 = c->local_addr->sa.sin6;
        a->in6.sin6_family = AF_INET6;
        return 0;
    }
    return -1;
}

static int give(conn_rec *c, loop *l)
{
    parcel p;

    if (leave_take(c, &p)) {
        return DECLINED;
    }
    if (loop_give(l, &p)) {
        parcel_drop(&p);
        return DECLINED;
    }
    if (l->row) {
        SEAT_ADD(l->row, adoptions, 1);
    }
    c->aborted = 1;
    c->keepalive = AP_CONN_CLOSE;
    if (c->cs) {
        c->cs->state = CONN_STATE_LINGER;
    }
    return OK;
}

int takeback_process_connection(conn_rec *c)
{
    const statics *st = static_get();
    loop *l = child_loop();
    unsigned char key[REQUEST_KEY];
    char buf[REQUEST_HEAD];
    parcel_addr local;
    request req;
    uint64_t vary;
    size_t len;
    ssize_t n;

    if (!st || !l || c->keepalives <= 0 || !leave_may(c)
        || local_address(c, &local)) {
        return DECLINED;
    }
    n = peek(c, buf, sizeof(buf));
    if (n <= 0
        || request_recognise(buf, (size_t)n, &st->limits, &req) != REQUEST_MINE
        || learn_setenvif(&req, buf)) {
        return DECLINED;
    }
    vary = __atomic_load_n(&st->vary, __ATOMIC_ACQUIRE);
    len = static_key(&req, buf, &local, c->keepalives, vary, key);
    if (!len) {
        return DECLINED;
    }
    if (known_is(key, len)) {
        return give(c, l);
    }
    lesson_attach(c, lesson_note_make(&req, buf, key, len, vary, c->keepalives,
                                      0, 0, parcel_now()));
    return DECLINED;
}
