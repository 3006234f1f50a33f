/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page: the status as HTML (a picture of the machine, its CPUs coloured by
 * seat and load, and a table of threads) and in Prometheus's text format.
 */
#ifndef CPUAFFINITY_PAGE_H
#define CPUAFFINITY_PAGE_H

#include <jansson.h>

#include "httpd.h"

/* Writes the whole page; @a model from model_make(). Worker thread. */
void page_html(request_rec *r, const json_t *model);

/* The part inside <body>, for mod_status's page. */
void page_section(request_rec *r, const json_t *model);

/* "Key: value" lines, sums over all seats, for mod_status's ?auto. */
void page_auto(request_rec *r, const json_t *model);

/* Prometheus's text exposition format, version 0.0.4. */
void page_prometheus(request_rec *r, const json_t *model);

#endif
