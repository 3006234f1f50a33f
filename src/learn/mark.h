/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mark: makes httpd itself tell to which requests a section with a directive
 * that matters to learning applies. After each such directive a FixedStatic of
 * ours is put into the tree, so that it is processed for, and merged with, the
 * very same sections: whatever httpd does about nesting, patterns and order, a
 * request's configuration has the mark if the directive may have had a say.
 * Configuration time; mark_node() and mark_word() any thread. Internal to
 * learn.
 */
#ifndef CPUAFFINITY_MARK_H
#define CPUAFFINITY_MARK_H

#include "conf/tree.h"

/* Puts the marks into ap_conftree. In pre_config, before it is processed. */
void mark_insert(apr_pool_t *pconf);

/* Has the directive a mark? */
int mark_has(const ap_directive_t *node);

/* The directive whose mark has that number (config_dir). */
const ap_directive_t *mark_node(int number);

/* Its first argument, NULL: it has none. */
const char *mark_word(int number);

#endif
