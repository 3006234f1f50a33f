/* SPDX-License-Identifier: Apache-2.0 */
#include "handoff/workers.h"

#include "httpd.h"
#include "ap_mpm.h"
#include "scoreboard.h"

/* Searches, as a child is not told its slot. */
static int find_slot(pid_t pid, int slots)
{
    int i;

    for (i = 0; i < slots; i++) {
        if (ap_scoreboard_image->parent[i].pid == pid) {
            return i;
        }
    }
    return -1;
}

int workers_idle(pid_t pid, int *slot)
{
    int slots = 0, threads = 0, idle = 0, i;

    ap_mpm_query(AP_MPMQ_HARD_LIMIT_DAEMONS, &slots);
    ap_mpm_query(AP_MPMQ_MAX_THREADS, &threads);
    if (*slot < 0 || *slot >= slots
        || ap_scoreboard_image->parent[*slot].pid != pid) {
        *slot = find_slot(pid, slots);
    }
    if (*slot < 0) {
        return -1;
    }
    if (ap_scoreboard_image->parent[*slot].not_accepting) {
        return 0;
    }
    for (i = 0; i < threads; i++) {
        idle += ap_scoreboard_image->servers[*slot][i].status == SERVER_READY;
    }
    return idle;
}
