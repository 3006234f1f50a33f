/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule_direct: R1, the way from a request's path to its file. Internal to
 * learn.
 */
#ifndef CPUAFFINITY_RULE_DIRECT_H
#define CPUAFFINITY_RULE_DIRECT_H

#include "learn/verdict.h"

/* R1: the name in the request is the file's, or mod_dir went from a
 * directory to the first name of its DirectoryIndex: a name after the first
 * would have to give way when a better file appears. Any worker. */
reason_id rule_direct(verdict_subject *s);

#endif
