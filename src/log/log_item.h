/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_item: the items of a log format ("%200,304{Name}i", "%<s") that can
 * be written exactly for an answer of the loop. No state. Internal to
 * log_format.
 */
#ifndef CPUAFFINITY_LOG_ITEM_H
#define CPUAFFINITY_LOG_ITEM_H

#include "httpd.h"
#include "apr_tables.h"

/* What an item shows, or needs. */
#define LOG_ITEM_IN 1    /* fields of the request */
#define LOG_ITEM_OUT 2   /* fields of the answer */
#define LOG_ITEM_ENV 4   /* environment variables */
#define LOG_ITEM_ID 8    /* whether the error log mentions the request */
#define LOG_ITEM_NAME 16 /* the name that the server has for itself */
#define LOG_ITEM_READ 32 /* how many bytes httpd has read */
#define LOG_ITEM_SENT 64 /* how many it has sent */

/*
 * Judges a format.
 * @param needs bits of all of its items, added to what is there
 * @param variables gets the names (const char *) of the environment variables
 *        that it shows, from @a p
 * @return NULL, or the item, from @a p, that is httpd's to write
 */
const char *log_item_judge(apr_pool_t *p, const char *format, unsigned *needs,
                           apr_array_header_t *variables);

/* Does an item show the request's field (any case)? @a p for temporary text */
int log_item_shows(apr_pool_t *p, const char *format, const char *field);

#endif
