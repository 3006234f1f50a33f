/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/modules.h"

#include "http_connection.h"
#include "http_core.h"
#include "http_log.h"
#include "http_protocol.h"
#include "http_request.h"
#include "mpm_common.h"
#include "apr_strings.h"

#include <dlfcn.h>
#include <link.h>

/* As in the module records. */
static const struct known {
    const char *name;
    modules_use use;
} known[] = {
    {"core.c", MODULES_INERT},
    {"http_core.c", MODULES_INERT},
    {"event.c", MODULES_INERT},
    {"mod_so.c", MODULES_INERT},
    {"mod_unixd.c", MODULES_INERT},
    {"mod_systemd.c", MODULES_INERT},
    {"mod_watchdog.c", MODULES_INERT},
    {"mod_version.c", MODULES_INERT},
    {"mod_macro.c", MODULES_INERT},
    {"mod_cpuaffinity.c", MODULES_INERT},
    /* their lines are written for the loop's answers too: access_log */
    {"mod_log_config.c", MODULES_INERT},
    {"mod_logio.c", MODULES_INERT},
    /* what they do with a file depends on its name alone */
    {"mod_mime.c", MODULES_INERT},
    {"mod_dir.c", MODULES_INERT},
    {"mod_negotiation.c", MODULES_INERT},
    /* handlers of their own: R2 */
    {"mod_autoindex.c", MODULES_INERT},
    {"mod_status.c", MODULES_INERT},
    {"mod_info.c", MODULES_INERT},
    {"mod_asis.c", MODULES_INERT},
    {"mod_cgid.c", MODULES_INERT},
    {"mod_cgi.c", MODULES_INERT},
    /* constants; R5 looks at what else there is in the environment */
    {"mod_env.c", MODULES_INERT},
    {"mod_setenvif.c", MODULES_INERT}, /* setenvif */
    {"mod_headers.c", MODULES_INERT},  /* directive */
    /* the loop keeps its time limits */
    {"mod_reqtimeout.c", MODULES_INERT},
    /* they only act when somebody asks who the client is: R4 */
    {"mod_authn_core.c", MODULES_INERT},
    {"mod_authn_file.c", MODULES_INERT},
    {"mod_auth_basic.c", MODULES_INERT},
    {"mod_authz_core.c", MODULES_INERT},
    {"mod_authz_host.c", MODULES_INERT},
    {"mod_authz_user.c", MODULES_INERT},
    {"mod_authz_groupfile.c", MODULES_INERT},
    /* filters: R3 */
    {"mod_filter.c", MODULES_INERT},
    {"mod_deflate.c", MODULES_INERT},
    {"mod_brotli.c", MODULES_INERT},
    {"mod_ratelimit.c", MODULES_INERT},
    /* nothing on plain connections */
    {"mod_ssl.c", MODULES_INERT},
    {"mod_socache_shmcb.c", MODULES_INERT},
    {"mod_slotmem_shm.c", MODULES_INERT},
    /* of a connection that speaks HTTP/1 it looks at the first bytes, whether
     * they are the preface of HTTP/2; what asks for an upgrade is not mine */
    {"mod_http2.c", MODULES_INERT},
    /* a map from names to names; in sections it may be an expression */
    {"mod_alias.c", MODULES_SECTION},
    {"mod_access_compat.c", MODULES_UNSET},
    {"mod_actions.c", MODULES_UNSET},
    {"mod_allowmethods.c", MODULES_UNSET},
    {"mod_expires.c", MODULES_UNSET},
    {"mod_include.c", MODULES_UNSET},
    {"mod_proxy.c", MODULES_UNSET},
    {"mod_proxy_ajp.c", MODULES_UNSET},
    {"mod_proxy_balancer.c", MODULES_UNSET},
    {"mod_proxy_connect.c", MODULES_UNSET},
    {"mod_proxy_fcgi.c", MODULES_UNSET},
    {"mod_proxy_http.c", MODULES_UNSET},
    {"mod_proxy_http2.c", MODULES_UNSET},
    {"mod_proxy_scgi.c", MODULES_UNSET},
    {"mod_proxy_uwsgi.c", MODULES_UNSET},
    {"mod_proxy_wstunnel.c", MODULES_UNSET},
    {"mod_remoteip.c", MODULES_UNSET},
    {"mod_rewrite.c", MODULES_UNSET},
    {"mod_userdir.c", MODULES_UNSET},
    {"mod_usertrack.c", MODULES_UNSET},
    {"mod_vhost_alias.c", MODULES_UNSET},
};
#define KNOWN (sizeof(known) / sizeof(known[0]))

int modules_known(const module *m)
{
    size_t i;

    for (i = 0; i < KNOWN; i++) {
        if (!strcmp(known[i].name, m->name)) {
            return (int)known[i].use;
        }
    }
    return -1;
}

/* Every hook through which a module can take part in a connection, a request
 * or its log. */
/* clang-format off */
#define HOOKS(X)                                                              \
    X(create_connection) X(pre_connection) X(process_connection)              \
    X(pre_close_connection) X(suspend_connection) X(resume_connection)        \
    X(insert_network_bucket) X(protocol_propose) X(protocol_switch)           \
    X(protocol_get) X(create_request) X(pre_read_request)                     \
    X(post_read_request) X(quick_handler) X(pre_translate_name)               \
    X(translate_name) X(map_to_storage) X(dirwalk_stat) X(open_htaccess)      \
    X(post_perdir_config) X(header_parser) X(access_checker)                  \
    X(access_checker_ex) X(check_user_id) X(auth_checker) X(force_authn)      \
    X(note_auth_failure) X(type_checker) X(fixups) X(insert_filter)           \
    X(insert_error_filter) X(handler) X(log_transaction) X(generate_log_id)   \
    X(http_scheme) X(default_port) X(expr_lookup)
/* clang-format on */

/* The code of objects with known modules. dladdr() would walk through an
 * object's symbols under a lock of the whole process, and a filter's function
 * is looked up for each request that may be learned. */
#define RANGES 160
static struct {
    struct {
        uintptr_t start;
        uintptr_t end;
    } range[RANGES];
    int count;
} owners;

int modules_is_owner(const void *function)
{
    uintptr_t at = (uintptr_t)function;
    int i;

    for (i = 0; i < owners.count; i++) {
        if (at >= owners.range[i].start && at < owners.range[i].end) {
            return 1;
        }
    }
    return 0;
}

/* Does the address lie in what was loaded of the object? */
static int has(const struct dl_phdr_info *o, const void *address)
{
    uintptr_t at = (uintptr_t)address;
    int i;

    for (i = 0; i < o->dlpi_phnum; i++) {
        uintptr_t start = o->dlpi_addr + o->dlpi_phdr[i].p_vaddr;

        if (o->dlpi_phdr[i].p_type == PT_LOAD && at >= start
            && at - start < o->dlpi_phdr[i].p_memsz) {
            return 1;
        }
    }
    return 0;
}

/* An object may be trusted when every module in it is known: httpd itself
 * with what is compiled in, and each DSO. */
static int add_owner(struct dl_phdr_info *o, size_t size, void *unused)
{
    const module *m;
    int trusted = 0, i;

    for (m = ap_top_module; m; m = m->next) {
        if (has(o, m)) {
            if (modules_known(m) < 0) {
                return 0;
            }
            trusted = 1;
        }
    }
    for (i = 0; trusted && i < o->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &o->dlpi_phdr[i];

        if (part->p_type == PT_LOAD && part->p_flags & PF_X
            && owners.count < RANGES) {
            uintptr_t start = o->dlpi_addr + part->p_vaddr;

            owners.range[owners.count].start = start;
            owners.range[owners.count++].end = start + part->p_memsz;
        }
    }
    return 0;
}

static void find_owners(void)
{
    owners.count = 0;
    dl_iterate_phdr(add_owner, NULL);
}

/* Where the object was loaded that an address is in. At start only. */
static const void *base_of(const void *address)
{
    Dl_info info;

    return dladdr(address, &info) ? info.dli_fbase : NULL;
}

static const char *stranger(apr_pool_t *p, const char *hook, const void *f)
{
    const module *m;
    Dl_info info = {0};

    if (modules_is_owner(f)) {
        return NULL;
    }
    for (m = ap_top_module; m; m = m->next) {
        if (modules_known(m) < 0 && base_of(m) == base_of(f)) {
            return apr_psprintf(p, "%s, in the hook %s", m->name, hook);
        }
    }
    dladdr(f, &info);
    return apr_psprintf(p, "%s, in the hook %s",
                        info.dli_fname ? info.dli_fname : "unknown code", hook);
}

/* A function of each hook's own type, as the arrays differ only in it. */
#define JUDGE(hook)                                                            \
    static const char *judge_##hook(apr_pool_t *p)                             \
    {                                                                          \
        apr_array_header_t *a = ap_hook_get_##hook();                          \
        const char *why = NULL;                                                \
        int i;                                                                 \
        for (i = 0; a && i < a->nelts && !why; i++) {                          \
            ap_LINK_##hook##_t *l = &APR_ARRAY_IDX(a, i, ap_LINK_##hook##_t);  \
            why = stranger(p, #hook, (const void *)l->pFunc);                  \
        }                                                                      \
        return why;                                                            \
    }                                                                          \
    static unsigned count_##hook(void)                                         \
    {                                                                          \
        apr_array_header_t *a = ap_hook_get_##hook();                          \
        return a ? (unsigned)a->nelts : 0;                                     \
    }
HOOKS(JUDGE)

#define ENTRY(hook) {judge_##hook, count_##hook},
static const struct {
    const char *(*judge)(apr_pool_t *p);
    unsigned (*count)(void);
} hooks[] = {HOOKS(ENTRY)};
#define HOOK_COUNT (sizeof(hooks) / sizeof(hooks[0]))

const char *modules_judge(apr_pool_t *p)
{
    const char *why = NULL;
    size_t i;

    find_owners();
    for (i = 0; i < HOOK_COUNT && !why; i++) {
        why = hooks[i].judge(p);
    }
    return why;
}

/* The number of functions in all hooks. */
static unsigned count_hooks(void)
{
    unsigned n = 0;
    size_t i;

    for (i = 0; i < HOOK_COUNT; i++) {
        n += hooks[i].count();
    }
    return n;
}

static unsigned settled;

void modules_settle(void)
{
    settled = count_hooks();
}

int modules_have_changed(void)
{
    return count_hooks() != settled;
}

int modules_is_last_handler(ap_HOOK_handler_t *ours)
{
    apr_array_header_t *a = ap_hook_get_handler();
    ap_LINK_handler_t *l;

    if (!a || a->nelts < 2) {
        return 0;
    }
    l = &APR_ARRAY_IDX(a, a->nelts - 2, ap_LINK_handler_t);
    return l[0].pFunc == ours
           && base_of((const void *)l[1].pFunc) == base_of(&core_module);
}

module *const *modules_sections(apr_pool_t *p)
{
    apr_array_header_t *list = apr_array_make(p, 16, sizeof(module *));
    module *m;

    for (m = ap_top_module; m; m = m->next) {
        int use = modules_known(m);

        if (use == MODULES_UNSET || use == MODULES_SECTION) {
            APR_ARRAY_PUSH(list, module *) = m;
        }
    }
    APR_ARRAY_PUSH(list, module *) = NULL;
    return (module *const *)(void *)list->elts;
}
