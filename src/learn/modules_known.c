/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/modules_known.h"

#include <string.h>

/* As in the module records. Modules come behind those that they need: the
 * battery loads them in this order. */
static const struct known {
    const char *name;
    modules_use use;
    const char *why; /* of MODULES_NEVER */
} known[] = {
    {"core.c", MODULES_INERT, 0},
    {"http_core.c", MODULES_INERT, 0},
    {"event.c", MODULES_INERT, 0},
    {"mod_so.c", MODULES_INERT, 0},
    {"mod_unixd.c", MODULES_INERT, 0},
    {"mod_systemd.c", MODULES_INERT, 0},
    {"mod_watchdog.c", MODULES_INERT, 0},
    {"mod_version.c", MODULES_INERT, 0},
    {"mod_macro.c", MODULES_INERT, 0},
    {"mod_cpuaffinity.c", MODULES_INERT, 0},
    /* their lines are written for the loop's answers too: access_log */
    {"mod_log_config.c", MODULES_INERT, 0},
    {"mod_logio.c", MODULES_INERT, 0},
    /* what they do with a file depends on its name alone, or on its bytes */
    {"mod_mime.c", MODULES_INERT, 0},
    {"mod_mime_magic.c", MODULES_INERT, 0},
    {"mod_dir.c", MODULES_INERT, 0},
    {"mod_negotiation.c", MODULES_INERT, 0},
    /* handlers of their own: R2 */
    {"mod_autoindex.c", MODULES_INERT, 0},
    {"mod_status.c", MODULES_INERT, 0},
    {"mod_info.c", MODULES_INERT, 0},
    {"mod_asis.c", MODULES_INERT, 0},
    {"mod_cgid.c", MODULES_INERT, 0},
    {"mod_cgi.c", MODULES_INERT, 0},
    /* whose rights a program gets */
    {"mod_suexec.c", MODULES_INERT, 0},
    /* by the file's type, which the configuration and the name give: R2 */
    {"mod_actions.c", MODULES_INERT, 0},
    /* it looks at the method only, and takes HEAD for GET */
    {"mod_allowmethods.c", MODULES_INERT, 0},
    /* it declines unless the path begins with "/~": rule */
    {"mod_userdir.c", MODULES_INERT, 0},
    /* one variable for each request: environment */
    {"mod_unique_id.c", MODULES_INERT, 0},
    /* constants; R5 looks at what else there is in the environment */
    {"mod_env.c", MODULES_INERT, 0},
    {"mod_setenvif.c", MODULES_INERT, 0}, /* setenvif */
    {"mod_expires.c", MODULES_INERT,
     0}, /* R3 sees its filter: RESPONSE_CLOCKED */
    {"mod_headers.c", MODULES_INERT, 0}, /* directive */
    /* the loop keeps its time limits */
    {"mod_reqtimeout.c", MODULES_INERT, 0},
    /* they only act when somebody asks who the client is: R4 */
    {"mod_dbd.c", MODULES_INERT, 0},
    {"mod_ldap.c", MODULES_INERT, 0},
    {"mod_authn_core.c", MODULES_INERT, 0},
    {"mod_authn_file.c", MODULES_INERT, 0},
    {"mod_authn_anon.c", MODULES_INERT, 0},
    {"mod_authn_dbd.c", MODULES_INERT, 0},
    {"mod_authn_dbm.c", MODULES_INERT, 0},
    {"mod_authn_socache.c", MODULES_INERT, 0},
    {"mod_auth_basic.c", MODULES_INERT, 0},
    {"mod_auth_digest.c", MODULES_INERT, 0},
    {"mod_authz_core.c", MODULES_INERT, 0},
    {"mod_authz_host.c", MODULES_INERT, 0},
    {"mod_authz_user.c", MODULES_INERT, 0},
    {"mod_authz_groupfile.c", MODULES_INERT, 0},
    {"mod_authz_dbd.c", MODULES_INERT, 0},
    {"mod_authz_dbm.c", MODULES_INERT, 0},
    {"mod_authz_owner.c", MODULES_INERT, 0},
    {"mod_authnz_ldap.c", MODULES_INERT, 0},
    /* filters: R3 */
    {"mod_filter.c", MODULES_INERT, 0},
    {"mod_deflate.c", MODULES_INERT, 0},
    {"mod_brotli.c", MODULES_INERT, 0},
    {"mod_ratelimit.c", MODULES_INERT, 0},
    {"mod_substitute.c", MODULES_INERT, 0},
    {"mod_sed.c", MODULES_INERT, 0},
    {"mod_buffer.c", MODULES_INERT, 0},
    {"mod_ext_filter.c", MODULES_INERT, 0},
    {"mod_data.c", MODULES_INERT, 0},
    /* providers */
    {"mod_slotmem_plain.c", MODULES_INERT, 0},
    {"mod_slotmem_shm.c", MODULES_INERT, 0},
    {"mod_socache_dbm.c", MODULES_INERT, 0},
    {"mod_socache_memcache.c", MODULES_INERT, 0},
    {"mod_socache_redis.c", MODULES_INERT, 0},
    {"mod_socache_shmcb.c", MODULES_INERT, 0},
    /* nothing on plain connections */
    {"mod_ssl.c", MODULES_INERT, 0},
    /* of a connection that speaks HTTP/1 it looks at the first bytes, whether
     * they are the preface of HTTP/2; what asks for an upgrade is not mine */
    {"mod_http2.c", MODULES_INERT, 0},
    /* a map from names to names; in sections it may be an expression */
    {"mod_alias.c", MODULES_SECTION, 0},
    {"mod_access_compat.c", MODULES_UNSET, 0},
    {"mod_auth_form.c", MODULES_UNSET, 0},
    {"mod_authnz_fcgi.c", MODULES_UNSET, 0},
    {"mod_cache.c", MODULES_UNSET, 0},
    {"mod_cern_meta.c", MODULES_UNSET, 0},
    {"mod_charset_lite.c", MODULES_UNSET, 0},
    {"mod_dav.c", MODULES_UNSET, 0},
    {"mod_dav_fs.c", MODULES_UNSET, 0},
    {"mod_dialup.c", MODULES_UNSET, 0},
    {"mod_dumpio.c", MODULES_UNSET, 0},
    {"mod_echo.c", MODULES_UNSET, 0},
    {"mod_file_cache.c", MODULES_UNSET, 0},
    {"mod_heartmonitor.c", MODULES_UNSET, 0},
    {"mod_imagemap.c", MODULES_UNSET, 0},
    {"mod_include.c", MODULES_UNSET, 0},
    {"mod_log_debug.c", MODULES_UNSET, 0},
    {"mod_lua.c", MODULES_UNSET, 0},
    {"mod_md.c", MODULES_UNSET, 0},
    {"mod_proxy.c", MODULES_UNSET, 0},
    {"mod_proxy_ajp.c", MODULES_UNSET, 0},
    {"mod_proxy_balancer.c", MODULES_UNSET, 0},
    {"mod_proxy_connect.c", MODULES_UNSET, 0},
    {"mod_proxy_express.c", MODULES_UNSET, 0},
    {"mod_proxy_fcgi.c", MODULES_UNSET, 0},
    {"mod_proxy_fdpass.c", MODULES_UNSET, 0},
    {"mod_proxy_ftp.c", MODULES_UNSET, 0},
    {"mod_proxy_hcheck.c", MODULES_UNSET, 0},
    {"mod_proxy_http.c", MODULES_UNSET, 0},
    {"mod_proxy_http2.c", MODULES_UNSET, 0},
    {"mod_proxy_scgi.c", MODULES_UNSET, 0},
    {"mod_proxy_uwsgi.c", MODULES_UNSET, 0},
    {"mod_proxy_wstunnel.c", MODULES_UNSET, 0},
    {"mod_reflector.c", MODULES_UNSET, 0},
    {"mod_remoteip.c", MODULES_UNSET, 0},
    {"mod_request.c", MODULES_UNSET, 0},
    {"mod_rewrite.c", MODULES_UNSET, 0},
    /* its filter, empty then, is in each answer's way: filter */
    {"mod_session.c", MODULES_UNSET, 0},
    /* providers of the above */
    {"mod_cache_disk.c", MODULES_INERT, 0},
    {"mod_cache_socache.c", MODULES_INERT, 0},
    {"mod_dav_lock.c", MODULES_INERT, 0},
    {"mod_session_cookie.c", MODULES_INERT, 0},
    {"mod_session_crypto.c", MODULES_INERT, 0},
    {"mod_session_dbd.c", MODULES_INERT, 0},
    {"mod_speling.c", MODULES_UNSET, 0},
    {"mod_usertrack.c", MODULES_UNSET, 0},
    {"mod_vhost_alias.c", MODULES_UNSET, 0},
    {"mod_xml2enc.c", MODULES_UNSET, 0},
    {"mod_proxy_html.c", MODULES_UNSET, 0},
    /* not httpd's own */
    {"mod_auth_gssapi.c", MODULES_UNSET, 0},
    {"mod_fcgid.c", MODULES_UNSET, 0},
    {"mod_upload_progress.c", MODULES_UNSET, 0},
    {"mod_wsgi.c", MODULES_UNSET, 0},
    {"mod_xsendfile.c", MODULES_UNSET, 0},
    /* What the loop answers they would never see, and they show no sign of it
     * in the answer. */
    {"mod_log_forensic.c", MODULES_NEVER, "logs each request twice"},
    {"mod_log_slow.c", MODULES_NEVER, "measures each request"},
    {"mod_bw.c", MODULES_NEVER, "counts what each client gets"},
    {"mod_evasive.c", MODULES_NEVER, "counts requests"},
    {"mod_evasive20.c", MODULES_NEVER, "counts requests"},
    {"mod_qos.c", MODULES_NEVER, "counts requests"},
    {"mod_security2.c", MODULES_NEVER, "inspects each request"},
    {"mod_security3.c", MODULES_NEVER, "inspects each request"},
    {"mod_perl.c", MODULES_NEVER,
     "may run a program at each step of a request"},
};
#define KNOWN (sizeof(known) / sizeof(known[0]))

static const struct known *find(const module *m)
{
    size_t i;

    for (i = 0; i < KNOWN; i++) {
        if (!strcmp(known[i].name, m->name)) {
            return &known[i];
        }
    }
    return NULL;
}

int modules_known(const module *m)
{
    const struct known *k = find(m);

    return k ? (int)k->use : -1;
}

const char *modules_known_why(const module *m)
{
    const struct known *k = find(m);

    return k ? k->why : NULL;
}
