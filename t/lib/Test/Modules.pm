# SPDX-License-Identifier: Apache-2.0
package Test::Modules;

# Lists of httpd's modules, without mod_ and _module, in an order in which they
# can be loaded.

use strict;
use warnings;
use Test::Httpd;

# What RHEL 9 and Fedora load as installed (httpd, mod_lua, mod_session,
# mod_http2), but for what every server of Test::Httpd has.
our @rhel = qw(access_compat actions allowmethods auth_basic auth_digest
    authn_anon authn_dbd authn_dbm authn_file authn_socache authz_dbd authz_dbm
    authz_groupfile authz_owner authz_user autoindex brotli cache cache_disk
    cache_socache data dbd deflate dumpio echo expires ext_filter filter
    headers include info logio macro mime_magic negotiation proxy remoteip
    reqtimeout request rewrite session slotmem_plain slotmem_shm socache_dbm
    socache_memcache socache_redis socache_shmcb substitute suexec unique_id
    userdir version vhost_alias dav dav_fs dav_lock lua lbmethod_bybusyness
    lbmethod_byrequests lbmethod_bytraffic lbmethod_heartbeat proxy_ajp
    proxy_balancer proxy_connect proxy_express proxy_fcgi proxy_fdpass
    proxy_ftp proxy_hcheck proxy_http proxy_scgi proxy_uwsgi proxy_wstunnel
    session_cookie session_dbd cgid http2 proxy_http2);

# Those of the table of known modules that are not httpd's own.
our @third = qw(auth_gssapi fcgid upload_progress wsgi xsendfile);

# The table, but for what has to see each request.
sub known {
    return Test::Httpd::slurp('src/learn/modules_known.c')
        =~ /\{"mod_(\w+)\.c", MODULES_(?!NEVER)/g;
}

sub is_installed { return -e Test::Httpd::libexec() . "/mod_$_[0].so" }

1;
