/* SPDX-License-Identifier: Apache-2.0 */
/*
 * htaccess_text: may an answer be learned under what a .htaccess file says?
 * Judged directive by directive against an allow list: what is not in it
 * refuses. httpd itself takes the text apart. Internal to learn.
 */
#ifndef CPUAFFINITY_HTACCESS_TEXT_H
#define CPUAFFINITY_HTACCESS_TEXT_H

#include "learn/htaccess.h"

/*
 * @param a    what it says is added to; results from its pool
 * @param file over the bytes; read
 * @return NULL; or why not. Any worker
 */
const char *htaccess_text_judge(htaccess *a, ap_configfile_t *file,
                                server_rec *server, const char *bytes,
                                size_t len);

#endif
