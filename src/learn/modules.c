/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/modules.h"

#include "http_connection.h"
#include "http_core.h"
#include "http_log.h"
#include "http_protocol.h"
#include "http_request.h"
#include "mpm_common.h"
#include "apr_lib.h"
#include "apr_strings.h"

#include <dlfcn.h>
#include <link.h>

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
#define RANGES 256
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

static int is_trusted(const module *m)
{
    int use = modules_known(m);

    return use >= 0 && use != MODULES_NEVER;
}

/* An object may be trusted when every module in it is known: httpd itself
 * with what is compiled in, and each DSO. */
static int add_owner(struct dl_phdr_info *o, size_t size, void *unused)
{
    const module *m;
    int trusted = 0, i;

    for (m = ap_top_module; m; m = m->next) {
        if (has(o, m)) {
            if (!is_trusted(m)) {
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
        if (!is_trusted(m) && base_of(m) == base_of(f)) {
            return apr_psprintf(p, "%s, in the hook %s", m->name, hook);
        }
    }
    dladdr(f, &info);
    return apr_psprintf(p, "%s, in the hook %s",
                        info.dli_fname ? info.dli_fname : "unknown code", hook);
}

/* Once for each module, whose name comes first. @return NULL */
static const char *tell(apr_array_header_t *all, const char *why)
{
    size_t len = strcspn(why, ", ");
    int i;

    for (i = 0; i < all->nelts; i++) {
        const char *told = APR_ARRAY_IDX(all, i, const char *);

        if (strcspn(told, ", ") == len && !memcmp(told, why, len)) {
            return NULL;
        }
    }
    APR_ARRAY_PUSH(all, const char *) = why;
    return NULL;
}

/* A function of each hook's own type, as the arrays differ only in it. */
#define JUDGE(hook)                                                            \
    static const char *judge_##hook(apr_pool_t *p, apr_array_header_t *all)    \
    {                                                                          \
        apr_array_header_t *a = ap_hook_get_##hook();                          \
        const char *why = NULL;                                                \
        int i;                                                                 \
        for (i = 0; a && i < a->nelts && !why; i++) {                          \
            ap_LINK_##hook##_t *l = &APR_ARRAY_IDX(a, i, ap_LINK_##hook##_t);  \
            why = stranger(p, #hook, (const void *)l->pFunc);                  \
            why = all && why ? tell(all, why) : why;                           \
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
    const char *(*judge)(apr_pool_t *p, apr_array_header_t *all);
    unsigned (*count)(void);
} hooks[] = {HOOKS(ENTRY)};
#define HOOK_COUNT (sizeof(hooks) / sizeof(hooks[0]))

/* A module that has to see each request. It need not have said so by now: its
 * hooks may be there only once it is configured. */
static const char *witness(apr_pool_t *p, apr_array_header_t *all)
{
    const module *m;

    for (m = ap_top_module; m; m = m->next) {
        const char *why =
            modules_known_why(m)
                ? apr_psprintf(p, "%s %s", m->name, modules_known_why(m))
                : NULL;

        if (why && !all) {
            return why;
        }
        if (why) {
            tell(all, why);
        }
    }
    return NULL;
}

const char *modules_judge(apr_pool_t *p)
{
    const char *why = witness(p, NULL);
    size_t i;

    find_owners();
    for (i = 0; i < HOOK_COUNT && !why; i++) {
        why = hooks[i].judge(p, NULL);
    }
    return why;
}

const apr_array_header_t *modules_refused(apr_pool_t *p)
{
    apr_array_header_t *all = apr_array_make(p, 4, sizeof(const char *));
    size_t i;

    witness(p, all);
    for (i = 0; i < HOOK_COUNT; i++) {
        hooks[i].judge(p, all);
    }
    return all;
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

/* What these modules do, they do for paths that begin so, and for no others. */
static const struct {
    const char *path;
    const char *module;
} claims[] = {
    {"/~", "mod_userdir.c"},
    {"/.well-known/acme-challenge/", "mod_md.c"},
};

#define MAGIC "mod_mime_magic.c"

/* NAME@7: mod_mime_magic gives it the type of NAME. */
static int is_revision(const char *filename)
{
    size_t len = strlen(filename), end = len;

    while (len && apr_isdigit(filename[len - 1])) {
        len--;
    }
    return len && len < end && filename[len - 1] == '@';
}

const char *modules_claiming(const request_rec *r)
{
    size_t i;

    if (r->filename && is_revision(r->filename)
        && ap_find_linked_module(MAGIC)) {
        return MAGIC;
    }
    for (i = 0; i < sizeof(claims) / sizeof(claims[0]); i++) {
        if (!strncmp(r->uri, claims[i].path, strlen(claims[i].path))
            && ap_find_linked_module(claims[i].module)) {
            return claims[i].module;
        }
    }
    return NULL;
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
