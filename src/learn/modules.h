/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modules: S1 of docs/security.md: which modules are known not to change the
 * answer for a static file, and whose functions stand in httpd's hooks.
 * Ownership is told by the object that a function's code lies in, not by the
 * name it was registered with. Internal to learn.
 */
#ifndef CPUAFFINITY_MODULES_H
#define CPUAFFINITY_MODULES_H

#include "httpd.h"
#include "http_config.h"

#include "learn/modules_known.h"

/* Only functions of known modules, and httpd's own, and no module that has to
 * see each request? @return NULL, or which hook and object forbid, from @a p.
 * After all modules' post_config. */
const char *modules_judge(apr_pool_t *p);

/* The same for people: a text for each module that forbids (const char *); the
 * first is modules_judge()'s. */
const apr_array_header_t *modules_refused(apr_pool_t *p);

/* From now on, any further hook that is registered stops learning. Child's main
 * thread, once the hooks have been judged. */
void modules_settle(void);

/* Has a module registered hooks since? Then nothing is learned any more. Any
 * worker. */
int modules_have_changed(void);

/* Is the code at @a function of httpd itself or of a known module? */
int modules_is_owner(const void *function);

/* Is the last handler httpd's own and the one before it @a ours (R2)? */
int modules_is_last_handler(ap_HOOK_handler_t *ours);

/* The name of a loaded module that, however it is configured, may look for
 * another file than the request's because of what that, or its path, is called;
 * NULL: none. Any worker. */
const char *modules_claiming(const request_rec *r);

/* Collects the loaded modules that sections must not configure, NULL at the
 * end, from @a p. */
module *const *modules_sections(apr_pool_t *p);

#endif
