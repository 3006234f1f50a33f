/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access_log_tls: what modules are told of the scheme of a request whose line
 * is written for the loop. mod_ssl does not know the connection that it is
 * written with: %p and names of the server depend on it. Internal to
 * access_log.
 */
#ifndef CPUAFFINITY_ACCESS_LOG_TLS_H
#define CPUAFFINITY_ACCESS_LOG_TLS_H

#include "httpd.h"

/* Hooks: mod_cpuaffinity.c has their order. */
const char *access_log_tls_scheme(const request_rec *r);
apr_port_t access_log_tls_port(const request_rec *r);

/* The request whose lines the calling thread is about to write came with TLS
 * (1), or not. */
void access_log_tls_set(int on);

#endif
