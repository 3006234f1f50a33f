/* SPDX-License-Identifier: Apache-2.0 */
#include "child/fixed.h"

#include "http_config.h"
#include "http_core.h"

#include "conf/config.h"
#include "child/affinity.h"
#include "affinity/pin.h"
#include "child/child.h"
#include "conf/tree.h"
#include "listen/fd_channels.h"
#include "conf/processes.h"
#include "serve/score.h"
#include "listen/sockets.h"
#include "serve/setup.h"
#include "listen/steering.h"

static server_rec *server; /* of this process, for the loop's looks */

/* What "auto" stands for; looked up only where it is written. */
static int automatic(apr_pool_t *p)
{
    static tree_names processes = {"FixedProcesses"};
    static tree_names cpus = {"CPUAffinityCPUs"};
    static tree_names smt = {"CPUAffinitySMT"};
    const ap_directive_t *node = tree_last(ap_conftree, processes);
    const ap_directive_t *c = tree_last(ap_conftree, cpus);
    const ap_directive_t *f = tree_last(ap_conftree, smt);

    if (!node || strcasecmp(tree_arg(p, node), "auto") != 0) {
        return 1;
    }
    return affinity_cpu_count(p, c ? tree_arg(p, c) : NULL,
                              f ? tree_arg(p, f) : NULL);
}

int fixed_pre_config(apr_pool_t *pconf)
{
    fd_channels_pre_config();
    sockets_pre_config();
    return processes_pre_config(pconf, &ap_conftree, automatic(pconf));
}

int fixed_check_config(apr_pool_t *pconf, server_rec *s)
{
    int rv = processes_check_config(pconf, s);

    if (rv == OK) {
        sockets_check_config(pconf, s, processes_count());
        fd_channels_check_config(s, processes_count());
    }
    return rv;
}

int fixed_open_logs(apr_pool_t *pconf, server_rec *s)
{
    int seats = processes_count();
    int rv = sockets_open_logs(pconf, s, seats);

    if (rv == OK && seats && sockets_get()) {
        rv = fd_channels_open_logs(s, seats);
        if (rv == OK || ap_state_query(AP_SQ_CONFIG_GEN) <= 1) {
            return rv;
        }
        sockets_do_without(pconf, s); /* a restart goes on */
        return OK;
    }
    if (!fd_channels_carrier()) {
        fd_channels_close();
    }
    return rv;
}

void fixed_post_config(apr_pool_t *pconf, server_rec *s)
{
    if (!processes_count()
        || ap_state_query(AP_SQ_MAIN_STATE) == AP_SQ_MS_CREATE_PRE_CONFIG) {
        return;
    }
    processes_log(s);
    if (!affinity_seats()) {
        sockets_do_without(pconf, s);
    }
    if (sockets_get() && affinity_seats()) {
        steering_post_config(pconf, s, config_get(s)->steering, affinity_plan(),
                             affinity_topology()->allowed, affinity_seats());
    }
}

void fixed_monitor(apr_pool_t *pconf, server_rec *s)
{
    sockets_monitor(pconf, s);
}

void fixed_child_status(int slot, mpm_child_status state)
{
    if (processes_count() && state == MPM_CHILD_EXITED) {
        score_gone(slot);
    }
}

/* The loop's thread goes where its seat's process is. */
static void place(int seat)
{
    pin_set(0, plan_seat(affinity_plan(), seat)->process, NULL);
}

static void look(int seat)
{
    sockets_tidy();
    steering_look(server, affinity_seats(), seat);
}

void fixed_child_init(apr_pool_t *pchild, server_rec *s)
{
    child_setup setup = {.seats = affinity_seats(),
                         .balance = config_get(s)->balance,
                         .answers = setup_make,
                         .look = look};

    if (!processes_count()) {
        child_carry(pchild, s);
        return;
    }
    server = s;
    if (affinity_plan()->active) {
        setup.place = place;
    }
    child_start(pchild, s, &setup);
}

void fixed_child_stopping(int graceful)
{
    child_stop(graceful);
}
