/* SPDX-License-Identifier: Apache-2.0 */
#include "listen/fd_channels.h"

#include "http_config.h"
#include "http_log.h"
#include "apr_portable.h"
#include "apr_strings.h"
#include "ap_mpm.h"
#include "scoreboard.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

APLOG_USE_MODULE(cpuaffinity);

#define RETAINED "cpuaffinity-channels"
#define PATIENCE 3000 /* ms for the parent to read its configuration */

/* In the process's pool, over restarts and reloads of the module: nothing
 * here may point into the module. */
typedef struct retained {
    fd_channels room;
    int room_for;          /* how many channels room.channel has memory for */
    int held;              /* the parent's end of the lifeline; -1: none */
    ap_listen_rec *record; /* closes that end with httpd's listeners */
    int carry;             /* the record is there for a door */
    int linked;            /* the record is in ap_listeners */
} retained;

static retained *kept;

static retained *retain(void)
{
    kept = ap_retained_data_get(RETAINED);
    if (!kept) {
        kept = ap_retained_data_create(RETAINED, sizeof(*kept));
        kept->held = -1;
        kept->room.lifeline = -1;
    }
    return kept;
}

static void unlink_record(retained *r)
{
    ap_listen_rec **at = &ap_listeners;

    while (r->linked && *at) {
        if (*at == r->record) {
            *at = r->record->next;
            break;
        }
        at = &(*at)->next;
    }
    r->linked = 0;
}

/* Appends it to the list: by then the MPM has counted its own. */
static void link_record(retained *r)
{
    ap_listen_rec **at = &ap_listeners;

    while (*at) {
        at = &(*at)->next;
    }
    r->record->next = NULL;
    r->record->active = 1;
    *at = r->record;
    r->linked = 1;
}

/* A record for the parent's end. Were the module left out of the next
 * configuration, httpd would take it for an old listener and close it. */
static apr_status_t make_record(retained *r, apr_pool_t *p)
{
    apr_os_sock_info_t info = {0};
    ap_listen_rec *lr = apr_pcalloc(p, sizeof(*lr));
    apr_status_t rv;

    rv = apr_sockaddr_info_get(&lr->bind_addr, NULL, APR_INET, 0, 0, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    info.os_sock = &r->held;
    info.family = APR_INET;
    info.type = SOCK_STREAM;
    info.local = (struct sockaddr *)&lr->bind_addr->sa;
    rv = apr_os_sock_make(&lr->sd, &info, p);
    lr->protocol = apr_pstrdup(p, "none");
    r->record = lr;
    return rv;
}

/* Closes the previous generation's lifeline, after a byte if that has a
 * successor. */
static void end_lifeline(retained *r, int successor)
{
    apr_os_sock_t fd = -1;

    if (r->held < 0) {
        return;
    }
    /* A restart without the module has closed it, and the descriptor may have
     * been reused since. */
    apr_os_sock_get(&fd, r->record->sd);
    if (fd >= 0) {
        if (successor && send(fd, "", 1, MSG_NOSIGNAL) < 0) {
            ap_log_error(APLOG_MARK, APLOG_WARNING, errno, NULL,
                         "children that stop cannot be told of the next ones");
        }
        apr_socket_close(r->record->sd);
    }
    close(r->room.lifeline);
    r->held = -1;
    r->room.lifeline = -1;
}

/* Makes the lifeline of this generation. */
static apr_status_t make_lifeline(retained *r, apr_pool_t *p)
{
    int pair[2];

    end_lifeline(r, 1);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
                   pair)) {
        return errno;
    }
    r->held = pair[0];
    r->room.lifeline = pair[1];
    return r->record ? apr_os_sock_put(&r->record->sd, &r->held, p)
                     : make_record(r, p);
}

static apr_status_t make_boxes(retained *r, apr_pool_t *p, int seats)
{
    if (seats > r->room_for) {
        fd_channel *channels =
            apr_palloc(p, (apr_size_t)seats * sizeof(*channels));

        if (r->room.count) {
            memcpy(channels, r->room.channel,
                   (apr_size_t)r->room.count * sizeof(*channels));
        }
        r->room.channel = channels;
        r->room_for = seats;
    }
    while (r->room.count < seats) {
        if (fd_channel_make(&r->room.channel[r->room.count])) {
            return errno;
        }
        r->room.count++;
    }
    return APR_SUCCESS;
}

void fd_channels_pre_config(void)
{
    retained *r = retain();

    unlink_record(r);
    r->carry = 0;
}

void fd_channels_check_config(server_rec *s, int seats)
{
    retained *r = retain();
    apr_status_t rv;

    if (seats || !r->room.count) {
        return;
    }
    rv = make_lifeline(r, s->process->pool);
    if (rv != APR_SUCCESS) {
        ap_log_error(APLOG_MARK, APLOG_ERR, rv, s,
                     "connections that older processes pass on are closed");
        return;
    }
    link_record(r);
    r->carry = 1;
}

ap_listen_rec *fd_channels_carrier(void)
{
    return kept && kept->carry ? kept->record : NULL;
}

int fd_channels_open_logs(server_rec *s, int seats)
{
    retained *r = retain();
    apr_pool_t *p = s->process->pool;
    apr_status_t rv = make_boxes(r, p, seats);

    if (rv == APR_SUCCESS) {
        rv = make_lifeline(r, p);
    }
    if (rv != APR_SUCCESS) {
        ap_log_error(APLOG_MARK, APLOG_ERR, rv, s,
                     "channels of %d seats could not be made", seats);
        fd_channels_close();
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    if (!r->linked) {
        link_record(r);
    }
    return OK;
}

void fd_channels_close(void)
{
    retained *r = retain();

    end_lifeline(r, 0);
    while (r->room.count) {
        fd_channel_close(&r->room.channel[--r->room.count]);
    }
}

void fd_channels_child_init(void)
{
    if (kept && kept->linked) {
        unlink_record(kept);
        apr_socket_close(kept->record->sd);
    }
}

const fd_channels *fd_channels_get(void)
{
    return kept && kept->room.count ? &kept->room : NULL;
}

int fd_channels_is_restart(void)
{
    int mine = 0;

    return ap_mpm_query(AP_MPMQ_GENERATION, &mine) == APR_SUCCESS
           && ap_scoreboard_image->global->running_generation != mine;
}

int fd_channels_has_successor(const fd_channels *m)
{
    static int word = -1; /* atomic; the first answer is the answer */
    struct pollfd end = {m->lifeline, POLLIN, 0};
    int heard = __atomic_load_n(&word, __ATOMIC_RELAXED);
    char byte;

    if (heard >= 0) {
        return heard;
    }
    if (poll(&end, 1, PATIENCE) < 1) {
        /* Only this process ends: the seat will be served again. Or it takes
         * long, and nobody knows how it ends. */
        heard = !fd_channels_is_restart();
    }
    else {
        heard = recv(m->lifeline, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
    }
    __atomic_store_n(&word, heard, __ATOMIC_RELAXED);
    return heard;
}
