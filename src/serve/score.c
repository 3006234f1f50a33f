/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/score.h"

#include "ap_mpm.h"
#include "apr_optional.h"
#include "apr_strings.h"
#include "http_core.h"
#include "http_log.h"

#include <sys/times.h>
#include <unistd.h>

#include "handoff/workers.h"

APLOG_USE_MODULE(cpuaffinity);

#define SEARCH 10 /* milliseconds between looks for the row */
#define TIMES 1000

/* The last row of a slot when no worker has it, else -1. */
static int last_row(void)
{
    int limit = 0, threads = 0;

    ap_mpm_query(AP_MPMQ_HARD_LIMIT_THREADS, &limit);
    ap_mpm_query(AP_MPMQ_MAX_THREADS, &threads);
    return threads > 0 && threads < limit ? limit - 1 : -1;
}

void score_begin(score *s)
{
    memset(s, 0, sizeof(*s));
    s->row_index = last_row();
    s->logio = APR_RETRIEVE_OPTIONAL_FN(ap_logio_get_last_bytes) != NULL;
}

static void ended(score *s, send_tally *sum, int64_t left)
{
    s->done.answers += sum->answers;
    s->done.in += sum->in;
    if (!s->logio) {
        left = 0;
    }
    s->done.out += left < sum->out ? sum->out - left : 0;
    *sum = (send_tally){0};
}

void score_batch(score *s, int64_t left)
{
    ended(s, &s->batch, left);
}

void score_keep(score *s, sending *job)
{
    job->tally = s->batch;
    s->batch = (send_tally){0};
}

void score_wait(score *s, sending *job)
{
    job->waits = 1;
    s->sending++;
}

void score_drop(score *s, sending *job)
{
    ended(s, &job->tally, send_left(job));
    s->sending -= job->waits;
}

/* The counts of the slot go on; what tells of the process before does not. */
static void take_row(score *s, int slot)
{
    worker_score *row = &ap_scoreboard_image->servers[slot][s->row_index];

    row->thread_num = 0;
    row->pid = getpid();
    row->generation = ap_scoreboard_image->parent[slot].generation;
    row->conn_count = 0;
    row->my_access_count = 0;
    row->conn_bytes = row->my_bytes_served = 0;
    memset(&row->times, 0, sizeof(row->times));
    row->client[0] = row->client64[0] = row->vhost[0] = '\0';
    row->protocol[0] = '\0';
    apr_cpystrn(row->request, "FixedStatic", sizeof(row->request));
    row->last_used = apr_time_now();
    s->row = row;
}

static void find_row(score *s, int *slot, int64_t now)
{
    if (s->row_index >= 0 && now >= s->next) {
        s->next = now + SEARCH;
        if (workers_idle(getpid(), slot) >= 0) {
            take_row(s, *slot);
        }
    }
}

static void write_counts(score *s, int64_t now)
{
    int64_t bytes = s->done.in + s->done.out;
    worker_score *row = s->row;
    apr_time_t t = apr_time_now();

    row->access_count += s->done.answers;
    row->my_access_count += s->done.answers;
    row->bytes_served += bytes;
    row->my_bytes_served += bytes;
    row->last_used = t;
    if (s->began > 1 && t > s->began) {
        row->start_time = s->began;
        row->stop_time = t;
        row->duration += t - s->began;
    }
    if (now >= s->next) {
        s->next = now + TIMES;
        times(&row->times);
    }
}

void score_turn(score *s, int *slot, int64_t now, int status)
{
    if (!s->row) {
        find_row(s, slot, now);
    }
    if (!s->row) {
        return;
    }
    if (s->done.answers) {
        if (ap_extended_status) {
            write_counts(s, now);
        }
        s->done = (send_tally){0};
    }
    s->began = 0;
    if (s->sending && status != SERVER_DEAD) {
        status = SERVER_BUSY_WRITE;
    }
    if (s->row->status != status) {
        s->row->status = (unsigned char)status;
    }
}

void score_gone(int slot)
{
    int row = last_row();

    if (row >= 0 && ap_scoreboard_image && slot >= 0) {
        ap_scoreboard_image->servers[slot][row].status = SERVER_DEAD;
    }
}
