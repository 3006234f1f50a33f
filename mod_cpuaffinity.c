/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mod_cpuaffinity: pins the processes, the listener and the worker threads
 * of httpd's MPM to CPUs, and turns mpm_event's children into a fixed set of
 * pinned processes with their own listening sockets.
 *
 * This file holds the directives, the hooks in the order in which httpd runs
 * them, and the module record. What they do is in src/.
 */
#include "httpd.h"
#include "http_config.h"
#include "http_connection.h"
#include "http_log.h"
#include "http_core.h"
#include "http_protocol.h"
#include "http_request.h"
#include "ap_mpm.h"
#include "mpm_common.h"
#include "apr_optional_hooks.h"

#include "conf/config.h"
#include "child/affinity.h"
#include "child/child.h"
#include "handoff/door.h"
#include "child/fixed.h"
#include "handoff/input_gate.h"
#include "learn/learn.h"
#include "log/access_log_tls.h"
#include "conf/spare.h"
#include "child/streams.h"
#include "child/takeback.h"
#include "child/tls_takeback.h"
#include "report/status.h"
#include "tls/keep.h"
#include "tls/replay.h"

/* The only symbol that the DSO exports. */
extern module AP_MODULE_DECLARE_DATA cpuaffinity_module
    __attribute__((visibility("default")));

#define WHICH(directive) ((void *)(apr_size_t)(directive))

static const command_rec directives[] = {
    AP_INIT_TAKE_ARGV("CPUAffinity", config_set_argv, WHICH(CONFIG_AFFINITY),
                      RSRC_CONF,
                      "what each process gets: off, auto, a unit (machine "
                      "package numa l3 core cpu), or map CPUSET ..."),
    AP_INIT_TAKE_ARGV("CPUAffinityListener", config_set_argv,
                      WHICH(CONFIG_LISTENER), RSRC_CONF,
                      "where the listener thread runs: process, a unit "
                      "[exclusive], or CPUSET ..."),
    AP_INIT_TAKE_ARGV("CPUAffinityWorkers", config_set_argv,
                      WHICH(CONFIG_WORKERS), RSRC_CONF,
                      "where worker threads run: process, a unit, or "
                      "CPUSET ..."),
    AP_INIT_TAKE1("CPUAffinityCPUs", config_set_word, WHICH(CONFIG_CPUS),
                  RSRC_CONF, "the CPUs that may be used at all"),
    AP_INIT_TAKE1("CPUAffinitySMT", config_set_word, WHICH(CONFIG_SMT),
                  RSRC_CONF, "all, or first: one logical CPU per core"),
    AP_INIT_TAKE1("CPUAffinityMemory", config_set_word, WHICH(CONFIG_MEMORY),
                  RSRC_CONF, "off, or local: prefer the memory of near nodes"),
    AP_INIT_TAKE1("CPUAffinityChildren", config_set_word,
                  WHICH(CONFIG_CHILDREN), RSRC_CONF,
                  "mask of programs started by httpd: original or inherit"),
    AP_INIT_TAKE1("CPUAffinityWatch", config_set_word, WHICH(CONFIG_WATCH),
                  RSRC_CONF, "seconds between looks at the masks, or off"),
    AP_INIT_TAKE1("CPUAffinityStrict", config_set_word, WHICH(CONFIG_STRICT),
                  RSRC_CONF, "on: a CPU that cannot be had stops the start"),
    AP_INIT_TAKE1("FixedProcesses", config_set_word, WHICH(CONFIG_PROCESSES),
                  RSRC_CONF, "off, auto, or how many fixed processes"),
    AP_INIT_FLAG("FixedStatic", config_set_static, NULL,
                 RSRC_CONF | ACCESS_CONF,
                 "whether the loop may repeat answers from here"),
    AP_INIT_TAKE12("FixedStaticCache", config_set_words, WHICH(CONFIG_CACHE),
                   RSRC_CONF,
                   "answers a process remembers, and how long a file is "
                   "trusted"),
    AP_INIT_TAKE1("FixedSteering", config_set_word, WHICH(CONFIG_STEERING),
                  RSRC_CONF,
                  "connections to the receiving CPU's seat: off, "
                  "cpu or auto"),
    AP_INIT_TAKE1("FixedBalance", config_set_word, WHICH(CONFIG_BALANCE),
                  RSRC_CONF,
                  "whether a saturated seat gives connections to "
                  "an idle one"),
    AP_INIT_TAKE1("FixedTLS", config_set_word, WHICH(CONFIG_TLS), RSRC_CONF,
                  "whether the loop may have connections with TLS"),
    AP_INIT_TAKE1("FixedStaticHtaccess", config_set_word,
                  WHICH(CONFIG_HTACCESS), RSRC_CONF,
                  "whether answers may be repeated where httpd looks for "
                  ".htaccess files: on, off"),
    AP_INIT_TAKE12("FixedStaticMemory", config_set_words,
                   WHICH(CONFIG_STATIC_MEMORY), RSRC_CONF,
                   "size up to which files are answered from memory, and the "
                   "memory for that"),
    {.name = NULL}};

static int pre_config(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp)
{
    affinity_pre_config(pconf);
    return fixed_pre_config(pconf);
}

static int pre_config_last(apr_pool_t *pconf, apr_pool_t *plog,
                           apr_pool_t *ptemp)
{
    learn_pre_config(pconf);
    return OK;
}

static int check_config(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp,
                        server_rec *s)
{
    int rv = fixed_check_config(pconf, s);

    return rv == OK ? affinity_check_config(pconf, ptemp, s) : rv;
}

static void test_config(apr_pool_t *pconf, server_rec *s)
{
    if (ap_exists_config_define("DUMP_CPUAFFINITY")) {
        affinity_dump(pconf, s);
        learn_dump(pconf, s);
    }
}

static int open_logs(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp,
                     server_rec *s)
{
    return fixed_open_logs(pconf, s);
}

static int post_config(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp,
                       server_rec *s)
{
    int rv = affinity_post_config(pconf, s);

    if (rv == OK) {
        fixed_post_config(pconf, s);
        learn_post_config(pconf, s);
    }
    return rv;
}

static int monitor(apr_pool_t *pconf, server_rec *s)
{
    fixed_monitor(pconf, s);
    return OK;
}

static void child_status(server_rec *s, pid_t pid, ap_generation_t gen,
                         int slot, mpm_child_status state)
{
    affinity_child_status(pid, state);
    fixed_child_status(slot, state);
}

static void child_init(apr_pool_t *pchild, server_rec *s)
{
    affinity_child_init(pchild, s);
    learn_child_init(pchild, s);
    fixed_child_init(pchild, s);
}

static void child_stopping(apr_pool_t *pchild, int graceful)
{
    fixed_child_stopping(graceful);
    affinity_child_stopping();
}

static int pre_connection(conn_rec *c, void *csd)
{
    affinity_connection(c);
    door_pre_connection(c, csd);
    return keep_pre_connection(c, csd);
}

static int pre_close(conn_rec *c)
{
    if (child_pre_close(c) == OK) {
        return OK;
    }
    streams_pre_close(c);
    return takeback_pre_close(c);
}

static void error_log(const ap_errorlog_info *info, const char *errstr)
{
    spare_error_log(info);
}

static void register_hooks(apr_pool_t *p)
{
    /* Before the directives run: the mask httpd was started with is saved
     * while nothing has changed it. */
    ap_hook_pre_config(pre_config, NULL, NULL, APR_HOOK_REALLY_FIRST);

    /* All modules have registered their authorization providers, and no
     * directive has looked one up yet. */
    ap_hook_pre_config(pre_config_last, NULL, NULL, APR_HOOK_REALLY_LAST);

    /* After the MPM has settled its limits, on which the plan depends. */
    ap_hook_check_config(check_config, NULL, NULL, APR_HOOK_REALLY_LAST);
    ap_hook_test_config(test_config, NULL, NULL, APR_HOOK_MIDDLE);

    /* The MPM has opened and counted its own listeners by then. */
    ap_hook_open_logs(open_logs, NULL, NULL, APR_HOOK_LAST);

    /* The table of seats must exist when the first child is forked. */
    ap_hook_post_config(post_config, NULL, NULL, APR_HOOK_MIDDLE);

    /* In the parent, when a child ends. */
    ap_hook_child_status(child_status, NULL, NULL, APR_HOOK_MIDDLE);

    /* Every few seconds, in the parent. */
    ap_hook_monitor(monitor, NULL, NULL, APR_HOOK_MIDDLE);

    /* Explains a message of the MPM that misleads in the fixed-process mode. */
    ap_hook_error_log(error_log, NULL, NULL, APR_HOOK_MIDDLE);

    /* After every other module: the threads that they make in child_init exist
     * by then and can be told from those that inherit their mask from here. */
    ap_hook_child_init(child_init, NULL, NULL, APR_HOOK_REALLY_LAST);
    ap_hook_child_stopping(child_stopping, NULL, NULL, APR_HOOK_REALLY_FIRST);

    /* Before a worker's first connection touches memory anywhere. */
    ap_hook_pre_connection(pre_connection, NULL, NULL, APR_HOOK_REALLY_FIRST);

    /* Before core's own: one with TLS that may be kept is made in another pool,
     * and one that was kept exists. */
    ap_hook_create_connection(keep_create_connection, NULL, NULL,
                              APR_HOOK_REALLY_FIRST);
    APR_OPTIONAL_HOOK(ssl, pre_handshake, keep_pre_handshake, NULL, NULL,
                      APR_HOOK_MIDDLE);
    replay_register();

    /* Before anyone reads: a request that the loop can answer goes to it. */
    ap_hook_process_connection(takeback_process_connection, NULL, NULL,
                               APR_HOOK_REALLY_FIRST);

    /* What the loop has read from a connection comes back below every filter;
     * connections idle when the process stops move to the next generation. */
    ap_hook_insert_network_bucket(takeback_network_bucket, NULL, NULL,
                                  APR_HOOK_REALLY_FIRST);
    ap_hook_insert_network_bucket(door_network_bucket, NULL, NULL,
                                  APR_HOOK_FIRST);
    /* Just before core, which inserts the socket at REALLY_LAST. */
    ap_hook_insert_network_bucket(input_gate_network_bucket, NULL, NULL,
                                  APR_HOOK_LAST);
    ap_hook_pre_close_connection(pre_close, NULL, NULL, APR_HOOK_FIRST);

    /* Before the request is read; learn's own comes after the first. */
    ap_hook_create_request(tls_takeback_create_request, NULL, NULL,
                           APR_HOOK_REALLY_FIRST - 1);
    ap_hook_pre_read_request(keep_pre_read_request, NULL, NULL,
                             APR_HOOK_REALLY_LAST);
    ap_hook_log_transaction(tls_takeback_log_transaction, NULL, NULL,
                            APR_HOOK_FIRST);

    /* Before the MPM's own answer. */
    ap_hook_mpm_query(streams_mpm_query, NULL, NULL, APR_HOOK_REALLY_FIRST);

    /* The virtual host is known by then. */
    ap_hook_post_read_request(takeback_post_read_request, NULL, NULL,
                              APR_HOOK_REALLY_LAST);

    /* Before mod_ssl and core, which do not know the logger's connection. */
    ap_hook_http_scheme(access_log_tls_scheme, NULL, NULL, APR_HOOK_FIRST);
    ap_hook_default_port(access_log_tls_port, NULL, NULL, APR_HOOK_FIRST);

    /* Hooks and filters that follow a request whose answer may be learned. */
    learn_register(p);

    ap_hook_handler(status_handler, NULL, NULL, APR_HOOK_MIDDLE);
    status_register();
}

AP_DECLARE_MODULE(cpuaffinity) = {
    STANDARD20_MODULE_STUFF, config_create_dir,    /* FixedStatic */
    config_merge_dir,        config_create_server, /* all others */
    config_merge_server,     directives,
    register_hooks,          AP_MODULE_FLAG_NONE,
};
