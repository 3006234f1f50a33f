#include "fixed/workers.h"

#include "httpd.h"
#include "ap_mpm.h"
#include "scoreboard.h"

#include <unistd.h>

/* Our slot in the scoreboard; the parent tells nobody. */
static int find_slot(void)
{
    pid_t me = getpid();
    int slots = 0, i;

    ap_mpm_query(AP_MPMQ_HARD_LIMIT_DAEMONS, &slots);
    for (i = 0; i < slots; i++) {
        if (ap_scoreboard_image->parent[i].pid == me) {
            return i;
        }
    }
    return -1;
}

int workers_idle(void)
{
    static int slot = -1; /* loop thread only */
    int threads = 0, idle = 0, i;

    ap_mpm_query(AP_MPMQ_MAX_THREADS, &threads);
    if (slot < 0) {
        slot = find_slot();
    }
    if (slot < 0) {
        return threads;
    }
    if (ap_scoreboard_image->parent[slot].not_accepting) {
        return 0;
    }
    for (i = 0; i < threads; i++) {
        idle += ap_scoreboard_image->servers[slot][i].status == SERVER_READY;
    }
    return idle;
}
