/* SPDX-License-Identifier: Apache-2.0 */
/*
 * setenvif: the expressions of SetEnvIf and BrowserMatch, for the loop. What
 * they find in a field of the request makes it httpd's (S2 of
 * docs/security.md), and so does a field in which something is looked for that
 * is not linear. What they find in the key (Request_URI, Request_Protocol,
 * Host, Server_Addr) gives each key variables of its own, which httpd finds
 * out when it answers.
 */
#ifndef CPUAFFINITY_SETENVIF_H
#define CPUAFFINITY_SETENVIF_H

#include "conf/tree.h"
#include "http/request.h"

/* Forgets all expressions, now and when @a p ends. */
void setenvif_reset(apr_pool_t *p);

/*
 * @param p for what is compiled meanwhile and the text that is returned
 * @return NULL; or why whatever it applies to has to be refused: it looks at
 *         neither a request header nor something in the key, or matches
 *         requests without the header
 */
const char *setenvif_judge(apr_pool_t *p, const ap_directive_t *node);

/*
 * Does it look at what is in the key? Then the names that it sets are added to
 * @a names (const char *); but not where a field of such a name is read, which
 * would hide the variable. @return 1; 0: no. Any thread
 */
int setenvif_names_of_key(const ap_directive_t *node,
                          apr_array_header_t *names);

/* Declares the field that it looks at, if it is one. @a p as above */
void setenvif_declare(apr_pool_t *p, const ap_directive_t *node);

/* Takes one in that is not refused: it counts for the server and the kind of
 * place (in sections or not) that it stands in. Logs a warning where httpd
 * alone can evaluate it. @a p as above */
void setenvif_add(apr_pool_t *p, const tree_place *at);

/* When all have been taken in: finds those that look at a variable which
 * another one sets, and the servers of those that stand in a <VirtualHost>.
 * @param first the main server */
void setenvif_settle(const server_rec *first);

/* Is it a variable that one of those taken in sets by what is in the key? Then
 * all requests of a key have the same, but those with setenvif_has_match().
 * Any thread. */
int setenvif_is_in_key(const char *variable);

/*
 * Does a SetEnvIf or BrowserMatch expression that applies match, or is there
 * one that the loop cannot evaluate for a field that is there? Then the request
 * is not mine (S2). Linear in the fields, whatever is in them. The loop's
 * thread or a worker's.
 * @param server the answering one; only compared
 * @param sections 1: those in sections may apply (config_dir.looks)
 * @return 1: not mine; 0
 */
int setenvif_has_match(const request *req, const char *head,
                       const server_rec *server, int sections);

/* The same for whatever server answers. */
int setenvif_may_match(const request *req, const char *head);

#endif
