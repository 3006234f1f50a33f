/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A module of the name that a module has which counts requests, and that has
 * registered no hook so far. Built by t/learn-modules.t.
 */
#include "httpd.h"
#include "http_config.h"

module AP_MODULE_DECLARE_DATA witness_module = {
    STANDARD20_MODULE_STUFF, 0, 0, 0, 0, 0, 0};

__attribute__((constructor)) static void rename_module(void)
{
    witness_module.name = "mod_qos.c";
}
