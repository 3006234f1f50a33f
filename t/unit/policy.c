/* SPDX-License-Identifier: Apache-2.0 */
/* policy: what the directives' arguments become, and what is refused. */
#include "t/unit/plantest.h"

static void takes(policy_setter set, const char *text, const char *name)
{
    is_str(set_words(policy_make(p), text, set), NULL, name);
}

static void refuses(policy_setter set, const char *text, const char *part)
{
    const char *said = set_words(policy_make(p), text, set);

    if (!ok(said && strstr(said, part), "refused: %s", text)) {
        printf("# said: %s\n", said ? said : "nothing");
    }
}

static void test_process(void)
{
    policy *pol = policy_make(p);

    is_int(pol->process, POLICY_PROCESS_UNSET, "unset at first");
    is_str(set_words(pol, "map 0-3 4,6", policy_set_process), NULL, "a map");
    is_int(pol->process, POLICY_PROCESS_MAP, "  is one");
    is_int(pol->map->nelts, 2, "  of two sets");
    is_str(set_words(pol, "L3", policy_set_process), NULL,
           "a unit, in any case");
    is_int(pol->unit, TOPOLOGY_L3, "  is one");
    takes(policy_set_process, "off", "off");
    takes(policy_set_process, "Auto", "auto");
    refuses(policy_set_process, "", "needs an argument");
    refuses(policy_set_process, "l4", "'l4'");
    refuses(policy_set_process, "0-3", "'0-3'");
    refuses(policy_set_process, "cpu 3", "'3'");
    refuses(policy_set_process, "map", "CPUSET");
    refuses(policy_set_process, "map 0-3 3-0", "'3-0'");
    refuses(policy_set_process, "off on", "'on'");
}

static void test_roles(void)
{
    policy *pol = policy_make(p);

    is_str(set_words(pol, "core exclusive", policy_set_listener), NULL,
           "a listener's own core");
    is_int(pol->listener, POLICY_ROLE_UNIT, "  a unit");
    is_int(pol->listener_exclusive, 1, "  exclusive");
    is_str(set_words(pol, "0 core:1 !2", policy_set_workers), NULL,
           "workers' sets");
    is_int(pol->worker_sets->nelts, 3, "  three");
    takes(policy_set_listener, "process", "process");
    takes(policy_set_listener, "l3:0", "a set that begins as a unit");
    takes(policy_set_workers, "cpu", "a unit");
    refuses(policy_set_listener, "", "needs an argument");
    refuses(policy_set_listener, "cpu alone", "'alone'");
    refuses(policy_set_listener, "cpu exclusive 3", "'3'");
    refuses(policy_set_listener, "process exclusive", "'exclusive'");
    refuses(policy_set_listener, "0-1 exclusive", "'exclusive'");
    refuses(policy_set_listener, "die", "'die'");
    refuses(policy_set_workers, "cpu exclusive", "'exclusive'");
    refuses(policy_set_workers, "l4", "'l4'");
    refuses(policy_set_workers, "0 1-", "'1-'");
}

static void test_rest(void)
{
    policy *pol = policy_make(p);

    is_str(policy_set_cpus(p, pol, "!0"), NULL, "CPUAffinityCPUs");
    is_str(pol->cpus, "!0", "  is kept");
    ok(policy_set_cpus(p, pol, "x") != NULL, "a bad one is refused");
    is_str(policy_set_smt(p, pol, "First"), NULL, "CPUAffinitySMT first");
    is_int(pol->smt_first, 1, "  is 1");
    is_str(policy_set_smt(p, pol, "second"),
           "'second' is not one of all, first", "another word");
    ok(!policy_needs_io(pol), "no devices are needed");
    policy_set_cpus(p, pol, "0,netdev:eth0");
    ok(policy_needs_io(pol), "now they are");
    pol = policy_make(p);
    set_words(pol, "map 0 !netdev:eth0", policy_set_process);
    ok(policy_needs_io(pol), "in a map too");
    pol = policy_make(p);
    policy_defaults(pol);
    is_int(pol->process, POLICY_PROCESS_OFF, "default: off");
    is_int(pol->listener, POLICY_ROLE_PROCESS, "default: listener process");
    is_int(pol->workers, POLICY_ROLE_PROCESS, "default: workers process");
    is_int(pol->smt_first, 0, "default: all siblings");
    is_int(pol->strict, 0, "default: not strict");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&p, NULL);
    test_process();
    test_roles();
    test_rest();
    apr_pool_destroy(p);
    apr_terminate();
    return done();
}
