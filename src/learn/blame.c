/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/blame.h"

#include <string.h>

#include "learn/conn_note.h"
#include "learn/cost.h"
#include "learn/counters.h"
#include "learn/obstacles.h"
#include "learn/setter.h"

/* "DEFLATE" of "BYTYPE:DEFLATE". */
static const char *plain_name(const char *detail)
{
    const char *colon = detail ? strrchr(detail, ':') : NULL;

    return colon && colon[1] ? colon + 1 : detail;
}

static int is_named(const obstacle *o, const char *name)
{
    return name
           && (!strcmp(o->group, name) || strcasestr(o->what, name) != NULL);
}

/* A module or filter has to be the one that was met. */
static int must_be_named(reason_id reason)
{
    return reason == REASON_SECTION || reason == REASON_FILTER;
}

/* The obstacle of the server that the request met; NULL: none that is known.
 * The last one in the configuration counts, as with httpd's merging. */
static const obstacle *find(const vhost *server, reason_id reason,
                            const request_rec *r, const char *detail)
{
    const char *name = plain_name(detail);
    const obstacle *o, *best = NULL;
    unsigned i;

    for (i = obstacles_first(server->index);
         (o = obstacles_at(i)) && o->server == server->index; i++) {
        if ((o->quiet && reason == REASON_ENVIRONMENT) || o->reason != reason
            || (must_be_named(reason) && name && !is_named(o, name))) {
            continue;
        }
        if ((!best || o->file) && reach_has(o->reach, r->uri, r->filename)) {
            best = o;
        }
    }
    return best;
}

static void count(const vhost *server, const obstacle *o, unsigned cause)
{
    if (!o || counters_met(o->index)) {
        counters_cost(server->index, cause);
    }
}

/* What a .htaccess file can say, which has no place here, but whoever allows
 * the file has. */
static int is_of_htaccess(reason_id reason)
{
    return reason == REASON_SECTION || reason == REASON_CLIENT
           || reason == REASON_FILTER || reason == REASON_ENVIRONMENT;
}

void blame_refused(const vhost *server, const request_rec *r, reason_id reason,
                   const obstacle *by, const char *detail)
{
    if (!server) {
        return;
    }
    if (!by && reason == REASON_ENVIRONMENT) {
        by = setter_find(server->index, r, detail);
    }
    if (!by) {
        by = find(server, reason, r, detail);
    }
    if (!by && r->htaccess && is_of_htaccess(reason)) {
        by = find(server, REASON_HTACCESS, r, NULL);
    }
    count(server, by, (unsigned)reason);
}

void blame_taught(const vhost *server, int again)
{
    if (server) {
        counters_cost(server->index, again ? COST_RENEWED : COST_NEW);
    }
}

void blame_untraced(const request_rec *r)
{
    const vhost *server = vhost_of(r->server);
    int why = conn_note_why(r->connection);

    if (!server) {
        return;
    }
    if (!server->wanted) {
        counters_cost(server->index, REASON_OFF);
    }
    else if (server->tls) {
        count(server, obstacles_whole(server->index, REASON_SHAPE), COST_TLS);
    }
    else if (server->reason != REASON_OK) {
        count(server, obstacles_whole(server->index, server->reason),
              (unsigned)server->reason);
    }
    else if (r->connection->master) {
        counters_cost(server->index, COST_HTTP2);
    }
    else {
        /* By now the variables are set. */
        count(server,
              why == REQUEST_WHY_SETENVIF ? setter_find(server->index, r, NULL)
                                          : NULL,
              why >= 0 ? COST_OF_WHY(why) : (unsigned)COST_UNSEEN);
    }
}
