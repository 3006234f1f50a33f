/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compat: differences between versions of httpd 2.4, from 2.4.51 on. No other
 * file checks the version. -DCOMPAT_OLDEST compiles as if for the oldest
 * version, for t/compat.t.
 */
#ifndef CPUAFFINITY_COMPAT_H
#define CPUAFFINITY_COMPAT_H

#include "httpd.h"
#include "ap_mmn.h"

#if MODULE_MAGIC_NUMBER_MAJOR != 20120211                                      \
    || !AP_MODULE_MAGIC_AT_LEAST(20120211, 118)
#error mod_cpuaffinity is for httpd 2.4, from 2.4.51 on
#endif

/* 2.4.53: threads that know their own apr_thread_t. */
#if AP_MODULE_MAGIC_AT_LEAST(20120211, 122) && !defined(COMPAT_OLDEST)
#define compat_thread_create ap_thread_create
#else
#define compat_thread_create apr_thread_create
#endif

/* 2.4.63. */
#if defined(DOCTYPE_HTML_4_01) && !defined(COMPAT_OLDEST)
#define COMPAT_DOCTYPE DOCTYPE_HTML_4_01
#else
#define COMPAT_DOCTYPE                                                         \
    "<!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 4.01//EN\" "                     \
    "\"http://www.w3.org/TR/html4/strict.dtd\">\n"
#endif

#ifdef COMPAT_OLDEST
#undef DOCTYPE_HTML_4_01
#pragma GCC poison ap_thread_create DOCTYPE_HTML_4_01
#endif

#endif
