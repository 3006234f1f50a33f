/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vhost: what the configuration tree says of each vhost (S2 of
 * docs/security.md): whether FixedStatic is wanted, which directives forbid it,
 * and what the loop has to know. Made in post_config, read-only afterwards
 * but for the verdict on modules (S1) in child_init. Internal to learn.
 */
#ifndef CPUAFFINITY_VHOST_H
#define CPUAFFINITY_VHOST_H

#include "httpd.h"
#include "http_config.h"
#include "apr_tables.h"

#include "learn/obstacle.h"
#include "learn/reason.h"

typedef struct vhost {
    const server_rec *server;
    unsigned index;
    int wanted;         /* FixedStatic on: for it or within it */
    reason_id reason;   /* REASON_OK, MODULE, SERVER */
    const char *why;    /* the directive with file and line, or the hook; of
                            reason, or of covers */
    int own;            /* FixedStatic of the <VirtualHost>: 0, 1; -1 unset */
    int general;        /* of all servers, the same */
    int inside;         /* 1: on in a section */
    int htaccess;       /* 1: AllowOverride None for the root directory */
    int reads_htaccess; /* 1: FixedStaticHtaccess on */
    const obstacle *covers; /* what keeps all of it from being repeated; NULL:
                             * nothing does */
    int plain;              /* 1: mod_headers touches validators */
    int rewritten;          /* 1: it touches conditions or ranges */
    const apr_array_header_t *log_variables; /* const char *: names of the
                             * environment variables that its logs depend on */
    const char *query_reader; /* the directive with file and line by which
                               * answers may depend on queries; NULL: none */
    const char *messages;     /* the directive, with file and line, for which no
                               * redirect or 404 is learned; NULL: none */
    int reads_unique;         /* 1: a directive names what mod_unique_id sets */
    int logs_id;              /* 1: a log shows ids of the error log */
    int logs_read;            /* 1: or bytes that were read */
    int logs_sent;            /* 1: or sent */
    int tls;                  /* 1: SSLEngine is on */
    int upgrades;             /* 1: it is optional: a plain one becomes TLS */
    int proxied;              /* 1: PROXY protocol */
    int64_t header_first;     /* RequestReadTimeout, as in address */
    int64_t header_max;
    int header_rate;
} vhost;

/* Reads the tree; -1 when something is missing (logged). */
int vhost_make(apr_pool_t *pconf, server_rec *main);

/* A server's; NULL when there is none. */
const vhost *vhost_of(const server_rec *s);

/* Servers by index, NULL at the end; 1 when FixedStatic is on anywhere. */
const vhost *vhost_at(unsigned index);
int vhost_has_any(void);

/* Nothing is to be learned anywhere. Parent, before children start. */
void vhost_disable(void);

/* S1 refused: all vhosts are off. Child, one thread. */
void vhost_refuse_all(const char *why);

/* There is another reason for it: only told. Then, too. */
void vhost_refuse_also(const char *why);

/* mod_ssl, if it is loaded; or NULL. */
const module *vhost_tls_module(void);

/* Loaded modules that must not be configured in sections; NULL at the end. */
module *const *vhost_sections(void);

#endif
