/*
 * learnlog: which access logs there are, and whether their lines can be
 * written for an answer of the loop (accesslog). Configuration time. Internal
 * to learn and accesslog.
 */
#ifndef CPUAFFINITY_LEARNLOG_H
#define CPUAFFINITY_LEARNLOG_H

#include "fixed/learntree.h"

void learnlog_reset(apr_pool_t *p);

/* Takes a LogFormat in; all of them before the first learnlog_judge(). */
void learnlog_format(const ap_directive_t *node);

/*
 * A CustomLog, GlobalLog or TransferLog.
 * @param env set to 1 when its lines depend on environment variables
 * @return NULL, or what of it only httpd can write
 */
const char *learnlog_judge(const ap_directive_t *node, int *env);

/* Which fields the formats show: of requests, of answers. */
#define LEARNLOG_IN 1
#define LEARNLOG_OUT 2
int learnlog_fields(void);

/* 1 when there is an access log at all. Any thread after configuration. */
int learnlog_any(void);

#endif
