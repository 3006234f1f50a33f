/* SPDX-License-Identifier: Apache-2.0 */
#include "conf/config.h"

#include "apr_lib.h"
#include "apr_strings.h"

#include "http_log.h"

#include "conf/processes.h"

extern module AP_MODULE_DECLARE_DATA cpuaffinity_module;
APLOG_USE_MODULE(cpuaffinity);

const char *const config_names[CONFIG_DIRECTIVES] = {
    [CONFIG_AFFINITY] = "CPUAffinity",
    [CONFIG_LISTENER] = "CPUAffinityListener",
    [CONFIG_WORKERS] = "CPUAffinityWorkers",
    [CONFIG_CPUS] = "CPUAffinityCPUs",
    [CONFIG_SMT] = "CPUAffinitySMT",
    [CONFIG_MEMORY] = "CPUAffinityMemory",
    [CONFIG_CHILDREN] = "CPUAffinityChildren",
    [CONFIG_WATCH] = "CPUAffinityWatch",
    [CONFIG_STRICT] = "CPUAffinityStrict",
    [CONFIG_PROCESSES] = "FixedProcesses",
    [CONFIG_CACHE] = "FixedStaticCache",
    [CONFIG_STEERING] = "FixedSteering",
    [CONFIG_BALANCE] = "FixedBalance",
    [CONFIG_STATIC_MEMORY] = "FixedStaticMemory",
    [CONFIG_TLS] = "FixedTLS",
    [CONFIG_HTACCESS] = "FixedStaticHtaccess",
};

void *config_create_server(apr_pool_t *p, server_rec *s)
{
    config_server *cf = apr_pcalloc(p, sizeof(*cf));

    cf->policy = policy_make(p);
    cf->memory_local = CONFIG_UNSET;
    cf->children_inherit = CONFIG_UNSET;
    cf->watch = CONFIG_UNSET;
    cf->fixed = CONFIG_UNSET;
    cf->cache_entries = CONFIG_UNSET;
    cf->cache_valid = CONFIG_UNSET;
    cf->steering = CONFIG_UNSET;
    cf->balance = CONFIG_UNSET;
    cf->tls = CONFIG_UNSET;
    cf->htaccess = CONFIG_UNSET;
    cf->memory_size = CONFIG_UNSET;
    cf->memory_limit = CONFIG_UNSET;
    return cf;
}

#define MERGE(member)                                                          \
    cf->member = add->member != CONFIG_UNSET ? add->member : base->member

void *config_merge_server(apr_pool_t *p, void *basev, void *addv)
{
    const config_server *base = basev;
    const config_server *add = addv;
    config_server *cf = apr_pmemdup(p, base, sizeof(*base));

    /* A virtual host sets none of these: its policy is the main server's. */
    MERGE(memory_local);
    MERGE(children_inherit);
    MERGE(watch);
    MERGE(fixed);
    MERGE(cache_entries);
    MERGE(cache_valid);
    MERGE(steering);
    MERGE(balance);
    MERGE(tls);
    MERGE(htaccess);
    MERGE(memory_size);
    MERGE(memory_limit);
    return cf;
}

void *config_create_dir(apr_pool_t *p, char *path)
{
    config_dir *cf = apr_pcalloc(p, sizeof(*cf));

    cf->fixed_static = CONFIG_UNSET;
    cf->refused = CONFIG_UNSET;
    cf->plain = CONFIG_UNSET;
    cf->rewritten = CONFIG_UNSET;
    cf->looks = CONFIG_UNSET;
    cf->index = CONFIG_UNSET;
    cf->names = CONFIG_UNSET;
    return cf;
}

void *config_merge_dir(apr_pool_t *p, void *basev, void *addv)
{
    const config_dir *base = basev;
    const config_dir *add = addv;
    config_dir *cf = apr_pcalloc(p, sizeof(*cf));

    MERGE(fixed_static);
    MERGE(refused);
    MERGE(plain);
    MERGE(rewritten);
    MERGE(looks);
    MERGE(index);
    MERGE(names);
    return cf;
}

void config_defaults(config_server *cf)
{
#define DEFAULT(member, value)                                                 \
    if (cf->member == CONFIG_UNSET)                                            \
    cf->member = (value)

    policy_defaults(cf->policy);
    DEFAULT(memory_local, 0);
    DEFAULT(children_inherit, 0);
    DEFAULT(watch, 10);
    DEFAULT(fixed, PROCESSES_OFF);
    DEFAULT(cache_entries, 10000);
    DEFAULT(cache_valid, 1000);
    DEFAULT(steering, CONFIG_STEERING_AUTO);
    DEFAULT(balance, 1);
    DEFAULT(tls, 0);
    DEFAULT(htaccess, 1);
    DEFAULT(memory_size, 64 * 1024);
    DEFAULT(memory_limit, 64 * 1024 * 1024);
}

config_server *config_get(const server_rec *s)
{
    return ap_get_module_config(s->module_config, &cpuaffinity_module);
}

const config_dir *config_dir_get(const ap_conf_vector_t *dir)
{
    return ap_get_module_config(dir, &cpuaffinity_module);
}

const char *config_where(const config_server *cf, const char *name)
{
    int i;

    for (i = 0; i < CONFIG_DIRECTIVES; i++) {
        if (!strcmp(config_names[i], name)) {
            return cf->where[i];
        }
    }
    return NULL;
}

/* "DIRECTIVE: reason", the form of all our messages. */
static const char *complain(cmd_parms *cmd, const char *reason)
{
    return apr_pstrcat(cmd->pool, cmd->cmd->name, ": ", reason, NULL);
}

/* Checks that the context is global and the directive is not repeated; notes
 * its place. */
static const char *enter(cmd_parms *cmd, config_server **cf)
{
    const char *err = ap_check_cmd_context(cmd, GLOBAL_ONLY);
    const char **where;

    if (err) {
        return err;
    }
    *cf = config_get(cmd->server);
    where = &(*cf)->where[(apr_size_t)cmd->info];
    if (*where) {
        return complain(
            cmd, apr_pstrcat(cmd->pool, "already set at ", *where, NULL));
    }
    *where = apr_psprintf(cmd->pool, "%s:%d", cmd->directive->filename,
                          cmd->directive->line_num);
    return NULL;
}

const char *config_set_argv(cmd_parms *cmd, void *dir, int argc,
                            char *const argv[])
{
    config_server *cf;
    const char *err = enter(cmd, &cf);

    if (err) {
        return err;
    }
    switch ((apr_size_t)cmd->info) {
    case CONFIG_AFFINITY:
        err = policy_set_process(cmd->pool, cf->policy, argc, argv);
        break;
    case CONFIG_LISTENER:
        err = policy_set_listener(cmd->pool, cf->policy, argc, argv);
        break;
    default:
        err = policy_set_workers(cmd->pool, cf->policy, argc, argv);
        break;
    }
    return err ? complain(cmd, err) : NULL;
}

/* One of the words of a NULL-ended list -> its index; -1: none of them. */
static int word_index(const char *arg, const char *const words[])
{
    int i;

    for (i = 0; words[i]; i++) {
        if (!strcasecmp(arg, words[i])) {
            return i;
        }
    }
    return -1;
}

/* A decimal number between low and high, with nothing after it. 0 or -1. */
static int number(const char *arg, apr_int64_t low, apr_int64_t high,
                  apr_int64_t *result)
{
    char *end;

    if (!apr_isdigit(*arg)) {
        return -1;
    }
    errno = 0;
    *result = apr_strtoi64(arg, &end, 10);
    return errno || *end || *result < low || *result > high ? -1 : 0;
}

/* Sets one of a list of words, for the directives that take one. */
static const char *set_choice(cmd_parms *cmd, const char *arg,
                              const char *const words[], int *result)
{
    *result = word_index(arg, words);
    if (*result >= 0) {
        return NULL;
    }
    return apr_psprintf(cmd->pool, "'%s' is not one of %s, %s%s%s", arg,
                        words[0], words[1], words[2] ? ", " : "",
                        words[2] ? words[2] : "");
}

static const char *set_watch(cmd_parms *cmd, config_server *cf, const char *arg)
{
    apr_int64_t n;

    if (!strcasecmp(arg, "off")) {
        cf->watch = 0;
        return NULL;
    }
    if (number(arg, 1, 86400, &n)) {
        return apr_psprintf(cmd->pool,
                            "'%s' is neither off nor 1 to 86400 seconds", arg);
    }
    cf->watch = (int)n;
    return NULL;
}

const char *config_set_word(cmd_parms *cmd, void *dir, const char *arg)
{
    static const char *const off_on[] = {"off", "on", NULL};
    static const char *const memory[] = {"off", "local", NULL};
    static const char *const children[] = {"original", "inherit", NULL};
    static const char *const steering[] = {"off", "cpu", "auto", NULL};
    config_server *cf;
    const char *err = enter(cmd, &cf);

    if (err) {
        return err;
    }
    switch ((apr_size_t)cmd->info) {
    case CONFIG_CPUS:
        err = policy_set_cpus(cmd->pool, cf->policy, arg);
        break;
    case CONFIG_SMT:
        err = policy_set_smt(cmd->pool, cf->policy, arg);
        break;
    case CONFIG_MEMORY:
        err = set_choice(cmd, arg, memory, &cf->memory_local);
        break;
    case CONFIG_CHILDREN:
        err = set_choice(cmd, arg, children, &cf->children_inherit);
        break;
    case CONFIG_STRICT:
        err = set_choice(cmd, arg, off_on, &cf->policy->strict);
        break;
    case CONFIG_STEERING:
        err = set_choice(cmd, arg, steering, &cf->steering);
        break;
    case CONFIG_BALANCE:
        err = set_choice(cmd, arg, off_on, &cf->balance);
        break;
    case CONFIG_TLS:
        err = set_choice(cmd, arg, off_on, &cf->tls);
        break;
    case CONFIG_HTACCESS:
        err = set_choice(cmd, arg, off_on, &cf->htaccess);
        break;
    case CONFIG_WATCH:
        err = set_watch(cmd, cf, arg);
        break;
    default:
        err = processes_parse(cmd->pool, arg, &cf->fixed);
        break;
    }
    return err ? complain(cmd, err) : NULL;
}

static const char *set_cache(cmd_parms *cmd, config_server *cf,
                             const char *entries, const char *valid)
{
    apr_interval_time_t interval;
    apr_int64_t n;

    if (number(entries, 1, 10000000, &n)) {
        return apr_psprintf(cmd->pool, "'%s' is not 1 to 10000000 entries",
                            entries);
    }
    cf->cache_entries = (int)n;
    if (!valid) {
        return NULL;
    }
    if (ap_timeout_parameter_parse(valid, &interval, "s") != APR_SUCCESS
        || interval < 0 || interval > apr_time_from_sec(60)) {
        return apr_psprintf(cmd->pool, "'%s' is not a time of 0 to 60s", valid);
    }
    cf->cache_valid = (int)apr_time_as_msec(interval);
    return NULL;
}

/* "64K", "16M", "1G", "512": bytes. 0 or -1. */
static int size_bytes(const char *arg, apr_off_t *result)
{
    char *end;
    apr_off_t factor;

    if (!apr_isdigit(*arg) || apr_strtoff(result, arg, &end, 10)) {
        return -1;
    }
    factor = *end == '\0'               ? 1
             : apr_toupper(*end) == 'K' ? 1024
             : apr_toupper(*end) == 'M' ? 1024 * 1024
             : apr_toupper(*end) == 'G' ? 1024 * 1024 * 1024
                                        : 0;
    if (!factor || (*end && end[1]) || *result > APR_INT64_MAX / factor) {
        return -1;
    }
    *result *= factor;
    return 0;
}

static const char *set_memory(cmd_parms *cmd, config_server *cf,
                              const char *size, const char *limit)
{
    if (size_bytes(size, &cf->memory_size)
        || cf->memory_size > 1024 * 1024 * 1024) {
        return apr_psprintf(cmd->pool, "'%s' is not a size up to 1G", size);
    }
    if (limit && size_bytes(limit, &cf->memory_limit)) {
        return apr_psprintf(cmd->pool, "'%s' is not a size", limit);
    }
    if (limit && cf->memory_limit < cf->memory_size) {
        return apr_psprintf(cmd->pool,
                            "'%s' is less than the size of one "
                            "file, '%s'",
                            limit, size);
    }
    return NULL;
}

const char *config_set_words(cmd_parms *cmd, void *dir, const char *arg,
                             const char *arg2)
{
    config_server *cf;
    const char *err = enter(cmd, &cf);

    if (!err) {
        err = (apr_size_t)cmd->info == CONFIG_CACHE
                  ? set_cache(cmd, cf, arg, arg2)
                  : set_memory(cmd, cf, arg, arg2);
        err = err ? complain(cmd, err) : NULL;
    }
    return err;
}

/* Within a section the names of several DirectoryIndex are added up; of
 * sections the inner one's count. */
static void set_mark(config_dir *cf, apr_size_t data)
{
    int number = (int)(data / CONFIG_MARKS);

    switch ((config_mark)(data % CONFIG_MARKS)) {
    case CONFIG_MARK_REFUSED:
        cf->refused = number;
        break;
    case CONFIG_MARK_PLAIN:
        cf->plain = number;
        break;
    case CONFIG_MARK_REWRITTEN:
        cf->rewritten = number;
        break;
    case CONFIG_MARK_LOOKS:
        cf->looks = number;
        break;
    case CONFIG_MARK_INDEX:
        if (cf->names != 1) {
            cf->index = number;
            cf->names = 1;
        }
        break;
    default:
        cf->index = number;
        cf->names = 0;
        break;
    }
}

const char *config_set_static(cmd_parms *cmd, void *dir, int on)
{
    config_dir *cf = dir;
    const char *err;

    if (cmd->directive->data) {
        set_mark(cf, (apr_size_t)cmd->directive->data - 1);
        return NULL;
    }
    err = ap_check_cmd_context(cmd, NOT_IN_HTACCESS | NOT_IN_LIMIT);
    if (!err) {
        cf->fixed_static = on;
    }
    return err;
}
