/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page.h"

#include <string.h>

#include <hwloc/bitmap.h>

#include "apr_strings.h"
#include "http_core.h"
#include "http_protocol.h"

#include "base/compat.h"
#include "report/learning.h"

static const char *text(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));

    return s ? s : "";
}

static long number(const json_t *o, const char *key)
{
    return (long)json_integer_value(json_object_get(o, key));
}

/* The seat whose process set holds a CPU; -1: none. */
static int seat_of(const json_t *model, int cpu)
{
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    int found = -1;
    size_t i;
    json_t *seat;

    json_array_foreach(json_object_get(model, "seats"), i, seat)
    {
        if (found < 0 && *text(seat, "process")
            && !hwloc_bitmap_list_sscanf(set, text(seat, "process"))
            && hwloc_bitmap_isset(set, (unsigned)cpu)) {
            found = (int)number(seat, "seat");
        }
    }
    hwloc_bitmap_free(set);
    return found;
}

/* How many threads were last seen on a CPU. */
static int threads_on(const json_t *model, int cpu)
{
    int n = 0;
    size_t i, j;
    json_t *seat, *thread;

    json_array_foreach(json_object_get(model, "seats"), i, seat)
    {
        json_array_foreach(json_object_get(seat, "threads"), j, thread)
        {
            n += number(thread, "last_cpu") == cpu;
        }
    }
    return n;
}

/* One hue per seat, neighbours far apart (the golden angle). */
static int hue(int seat)
{
    return seat * 137 % 360;
}

static void draw_cpu(request_rec *r, const json_t *model, const json_t *cpu)
{
    int n = (int)number(cpu, "cpu");
    int seat = seat_of(model, n);
    int load = threads_on(model, n);
    const char *reason = text(cpu, "reason");
    const char *style = "";

    if (seat >= 0) {
        style = apr_psprintf(r->pool, " style=\"background:hsl(%d,65%%,%d%%)\"",
                             hue(seat), load > 12 ? 50 : 86 - 3 * load);
    }
    ap_rprintf(r,
               "<span class=\"cpu%s\"%s title=\"CPU %d, core %ld, seat %d, "
               "last seen on it: %d threads %s\">%d</span>",
               json_is_true(json_object_get(cpu, "used")) ? "" : " out", style,
               n, number(cpu, "core"), seat, load,
               ap_escape_html(r->pool, reason), n);
}

/* Boxes within boxes: packages, NUMA nodes, L3 caches. */
static void draw_machine(request_rec *r, const json_t *model)
{
    static const char *const levels[] = {"package", "numa", "l3"};
    long open[3] = {-2, -2, -2};
    size_t i;
    json_t *cpu;
    int l, opened = 0;

    ap_rputs("<div class=\"machine\">", r);
    json_array_foreach(json_object_get(model, "cpus"), i, cpu)
    {
        int same = 0;

        while (same < opened && open[same] == number(cpu, levels[same])) {
            same++;
        }
        for (l = opened; l > same; l--) {
            ap_rputs("</div>", r);
        }
        for (l = same; l < 3; l++) {
            open[l] = number(cpu, levels[l]);
            if (open[l] >= 0) {
                ap_rprintf(r, "<div class=\"box\"><b>%s %ld</b> ", levels[l],
                           open[l]);
            }
            else {
                ap_rputs("<div>", r);
            }
        }
        opened = 3;
        draw_cpu(r, model, cpu);
    }
    for (l = opened; l > 0; l--) {
        ap_rputs("</div>", r);
    }
    ap_rputs("</div>\n", r);
}

static void draw_thread(request_rec *r, const json_t *t)
{
    int differs =
        strcmp(text(t, "wanted"), text(t, "actual")) && *text(t, "wanted");

    ap_rprintf(r,
               "<tr%s><td>%ld<td>%s<td>%ld<td>%s<td>%s<td>%ld<td>%ld"
               "<td>%ld.%03ld\n",
               differs ? " class=\"bad\"" : "", number(t, "tid"),
               text(t, "role"), number(t, "index"),
               ap_escape_html(r->pool, text(t, "wanted")),
               ap_escape_html(r->pool, text(t, "actual")),
               number(t, "last_cpu"), number(t, "migrations"),
               number(t, "cpu_ms") / 1000, number(t, "cpu_ms") % 1000);
}

static void draw_seat(request_rec *r, const json_t *seat)
{
    size_t i;
    json_t *t;

    ap_rprintf(r,
               "<details><summary><i style=\"background:hsl(%d,65%%,70%%)\">"
               "</i>seat %ld: process %s, listener %s; pid %ld; accepts "
               "%ld, connections %ld, requests %ld, hits %ld, "
               "hand-offs %ld, adoptions %ld, given %ld, taken %ld"
               "</summary>\n<table><tr><th>tid<th>role<th>index<th>wanted"
               "<th>actual<th>last CPU<th>migrations<th>CPU s\n",
               hue((int)number(seat, "seat")), number(seat, "seat"),
               text(seat, "process"), text(seat, "listener"),
               number(seat, "pid"), number(seat, "accepts"),
               number(seat, "connections"), number(seat, "requests"),
               number(seat, "loop_hits"), number(seat, "handoffs"),
               number(seat, "adoptions"), number(seat, "given"),
               number(seat, "taken"));
    json_array_foreach(json_object_get(seat, "threads"), i, t)
    {
        draw_thread(r, t);
    }
    ap_rputs("</table></details>\n", r);
}

void page_section(request_rec *r, const json_t *model)
{
    size_t i;
    json_t *item;

    ap_rputs("<style>.machine div.box{display:inline-block;border:1px solid "
             "#999;margin:3px;padding:3px;vertical-align:top}.cpu{display:"
             "inline-block;min-width:2em;margin:2px;padding:2px;text-align:"
             "center;border:1px solid #777}.out{background:#ddd;color:#888;"
             "text-decoration:line-through}.bad{background:#fcc}summary i{"
             "display:inline-block;width:1em;height:1em;margin-right:.4em}"
             "td,th{padding:0 .6em;text-align:right}</style>\n",
             r);
    draw_machine(r, model);
    ap_rprintf(r, "<p>unit: %s", ap_escape_html(r->pool, text(model, "unit")));
    if (*text(model, "steering")) {
        ap_rprintf(r, "; steering: %s",
                   ap_escape_html(r->pool, text(model, "steering")));
    }
    ap_rputs("</p>\n", r);
    json_array_foreach(json_object_get(model, "warnings"), i, item)
    {
        ap_rprintf(r, "<p class=\"bad\">%s</p>\n",
                   ap_escape_html(r->pool, json_string_value(item)));
    }
    json_array_foreach(json_object_get(model, "seats"), i, item)
    {
        draw_seat(r, item);
    }
    learning_html(r, model);
}

void page_html(request_rec *r, const json_t *model)
{
    ap_rputs(COMPAT_DOCTYPE "<html><head><meta name=\"viewport\" content="
                            "\"width=device-width\"><title>CPU affinity"
                            "</title></head><body>\n<h1>CPU affinity of ",
             r);
    ap_rprintf(r, "%s</h1>\n", ap_escape_html(r->pool, ap_get_server_name(r)));
    page_section(r, model);
    ap_rputs("</body></html>\n", r);
}

/* The seats' numbers; the last are gauges, the others counters. */
static const struct {
    const char *key;
    const char *name; /* in ?auto */
    const char *metric;
    const char *type;
    const char *help;
} metrics[] = {
    {"accepts", "Accepts", "accepts_total", "counter", "Connections accepted."},
    {"requests", "Requests", "requests_total", "counter",
     "Requests the loop answered."},
    {"loop_hits", "Hits", "loop_hits_total", "counter", "Answers repeated."},
    {"handoffs", "Handoffs", "handoffs_total", "counter",
     "Connections given to httpd."},
    {"adoptions", "Adoptions", "adoptions_total", "counter",
     "Connections taken back."},
    {"tls_open", "TLSOpen", "tls_open", "gauge",
     "Connections with TLS in the loop."},
    {"tls_taken", "TLSTaken", "tls_taken_total", "counter",
     "Times that one came from httpd's threads."},
    {"tls_returned", "TLSReturned", "tls_returned_total", "counter",
     "Times that one went back to them."},
    {"given", "Given", "given_total", "counter", "Connections given to seats."},
    {"taken", "Taken", "taken_total", "counter",
     "Connections taken from seats."},
    {"bytes", "Bytes", "bytes_total", "counter", "Bytes sent by the loop."},
    {"learned", "Learned", "learned_total", "counter", "Answers learned."},
    {"refused", "Refused", "refused_total", "counter",
     "Answers not to be learned."},
    {"audited", "Audited", "audited_total", "counter",
     "Hits compared with httpd."},
    {"differed", "Differed", "differed_total", "counter",
     "Audits that differed."},
    {"connections", "Connections", "connections", "gauge",
     "Connections open in the loop."},
    {"waiting_bytes", "WaitingBytes", "waiting_bytes", "gauge",
     "Kept for slow clients."},
    {"cache_entries", "CacheEntries", "cache_entries", "gauge",
     "Answers in the caches."},
    {"cache_bytes", "CacheBytes", "cache_bytes", "gauge",
     "Bytes of files in memory."},
    {"cache_fds", "CacheFds", "cache_fds", "gauge", "Files that are open."},
    {"evicted", "Evicted", "evicted_total", "counter",
     "Answers pushed out for want of room."},
    {"stale", "Stale", "stale_total", "counter",
     "Answers whose file had changed."},
    {"expired", "Expired", "expired_total", "counter",
     "Answers that httpd had to give again."},
};

void page_auto(request_rec *r, const json_t *model)
{
    const json_t *seats = json_object_get(model, "seats");
    size_t m, i;
    json_t *seat;

    ap_rprintf(r, "CPUAffinitySeats: %ld\n", (long)json_array_size(seats));
    for (m = 0; m < sizeof(metrics) / sizeof(*metrics); m++) {
        long sum = 0;

        json_array_foreach(seats, i, seat)
        {
            sum += number(seat, metrics[m].key);
        }
        ap_rprintf(r, "CPUAffinity%s: %ld\n", metrics[m].name, sum);
    }
}

static void prometheus_threads(request_rec *r, const json_t *model)
{
    size_t i, j;
    json_t *seat, *t;

    ap_rputs("# HELP httpd_cpuaffinity_misplaced_threads Threads whose mask "
             "is not the planned one.\n"
             "# TYPE httpd_cpuaffinity_misplaced_threads gauge\n",
             r);
    json_array_foreach(json_object_get(model, "seats"), i, seat)
    {
        int bad = 0;

        json_array_foreach(json_object_get(seat, "threads"), j, t)
        {
            bad += *text(t, "wanted")
                   && strcmp(text(t, "wanted"), text(t, "actual"));
        }
        ap_rprintf(r, "httpd_cpuaffinity_misplaced_threads{seat=\"%ld\"} %d\n",
                   number(seat, "seat"), bad);
    }
    ap_rputs("# HELP httpd_cpuaffinity_migrations Migrations of the living "
             "threads.\n# TYPE httpd_cpuaffinity_migrations gauge\n",
             r);
    json_array_foreach(json_object_get(model, "seats"), i, seat)
    {
        long sum = 0;

        json_array_foreach(json_object_get(seat, "threads"), j, t)
        {
            sum += number(t, "migrations");
        }
        ap_rprintf(r, "httpd_cpuaffinity_migrations{seat=\"%ld\"} %ld\n",
                   number(seat, "seat"), sum);
    }
}

void page_prometheus(request_rec *r, const json_t *model)
{
    size_t m, i;
    json_t *seat;

    for (m = 0; m < sizeof(metrics) / sizeof(*metrics); m++) {
        ap_rprintf(r,
                   "# HELP httpd_cpuaffinity_%s %s\n"
                   "# TYPE httpd_cpuaffinity_%s %s\n",
                   metrics[m].metric, metrics[m].help, metrics[m].metric,
                   metrics[m].type);
        json_array_foreach(json_object_get(model, "seats"), i, seat)
        {
            ap_rprintf(r, "httpd_cpuaffinity_%s{seat=\"%ld\"} %ld\n",
                       metrics[m].metric, number(seat, "seat"),
                       number(seat, metrics[m].key));
        }
    }
    prometheus_threads(r, model);
    learning_prometheus(r, json_object_get(model, "learning"));
}
