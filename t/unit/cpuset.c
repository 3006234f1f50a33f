/* SPDX-License-Identifier: Apache-2.0 */
/* cpuset: what the grammar takes, what it makes of it, what it refuses. */
#include <stdlib.h>

#include <apr_general.h>
#include <apr_strings.h>
#include <hwloc/bitmap.h>

#include "affinity/cpuset.h"
#include "t/unit/tap.h"

static apr_pool_t *p;

/* Two objects of each kind; one network device. */
static int object(void *ctx, const char *kind, unsigned index, cpuset *set,
                  const char **error)
{
    unsigned each = !strcmp(kind, "core") ? 2 : 10;

    if (index > 1) {
        *error = "this machine's last is 1";
        return -1;
    }
    hwloc_bitmap_set_range(set, index * each, (int)(index * each + each - 1));
    return 0;
}

static int netdev(void *ctx, const char *name, cpuset *set, const char **error)
{
    if (strcmp(name, "eth0")) {
        *error = "no such device";
        return -1;
    }
    hwloc_bitmap_set_range(set, 4, 7);
    return 0;
}

static const cpuset_scope *scope_of(int machine, int from, int to)
{
    cpuset_scope *scope = apr_pcalloc(p, sizeof(*scope));
    cpuset *all = cpuset_make(p), *allowed = cpuset_make(p);

    hwloc_bitmap_set_range(all, 0, machine - 1);
    hwloc_bitmap_set_range(allowed, (unsigned)from, to);
    scope->machine = all;
    scope->allowed = allowed;
    scope->object = object;
    scope->netdev = netdev;
    return scope;
}

/* The set as a list, or the message. */
static const char *parse(const char *text, const cpuset_scope *scope)
{
    const char *error = "no message";
    cpuset *set = NULL;

    if (cpuset_parse(p, text, scope, &set, &error)) {
        return set ? "touched" : error;
    }
    return scope ? cpuset_format(p, set) : "syntax";
}

static void test_accepted(void)
{
    /* 20 CPUs, of which 4 to 15 are allowed */
    static const struct {
        const char *text;
        const char *list;
    } cases[] = {
        {"3", "3"},
        {"0-7", "0-7"},
        {"0-14:2", "0,2,4,6,8,10,12,14"},
        {"0-15:5", "0,5,10,15"},
        {"5-5", "5"},
        {"003", "3"},
        {"0,2,4-6", "0,2,4-6"},
        {"6,0-7,6", "0-7"},
        {"0xff", "0-7"},
        {"0x8001", "0,15"},
        {"0xAb", "0-1,3,5,7"},
        {"0x00000001", "0"},
        {"mask:0101", "0,2"},
        {"mask:1", "0"},
        {"mask:00010000000000", "10"},
        {"+0", "4"},
        {"+0-3", "4-7"},
        {"+0-11:4", "4,8,12"},
        {"+0,0", "0,4"},
        {"core:0", "0-1"},
        {"core:0-1", "0-3"},
        {"l3:1", "10-19"},
        {"numa:0", "0-9"},
        {"package:0-1", "0-19"},
        {"netdev:eth0", "4-7"},
        {"!4-7", "8-15"},
        {"!0-4,15", "5-14"},
        {"!+0", "5-15"},
        {"core:1,netdev:eth0,0x1", "0,2-7"},
    };
    size_t i;

    for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        is_str(parse(cases[i].text, scope_of(20, 4, 15)), cases[i].list,
               cases[i].text);
        is_str(parse(cases[i].text, NULL), "syntax", "  and as syntax");
    }
}

static void test_refused_syntax(void)
{
    /* text, and what the message must show */
    static const struct {
        const char *text;
        const char *part;
    } cases[] = {
        {"", "empty"},
        {",", "empty"},
        {"1,", "empty"},
        {"1,,2", "empty"},
        {"!", "empty"},
        {"7-3", "'7-3' is a reversed"},
        {"3-", "'3-'"},
        {"-3", "'-3'"},
        {"3:2", "'3:2'"},
        {"0-7:0", "'0-7:0' has a stride of 0"},
        {"0-7:", "'0-7:'"},
        {"0-7:2:3", "trailing"},
        {"3x", "'3x'"},
        {"0-3x", "'0-3x'"},
        {"1, 2", "' 2'"},
        {" 1", "' 1'"},
        {"1 ", "'1 '"},
        {"0x", "'0x'"},
        {"0xfg", "'0xfg'"},
        {"0x0", "empty"},
        {"mask:", "'mask:'"},
        {"mask:012", "'mask:012'"},
        {"mask:000", "empty"},
        {"+", "'+'"},
        {"+x", "'+x'"},
        {"++1", "'++1'"},
        {"core:", "'core:'"},
        {"core:x", "'core:x'"},
        {"Core:1", "'Core:1'"},
        {"die:1", "'die:1'"},
        {"l3", "'l3'"},
        {"netdev:", "'netdev:'"},
        {"netdev:a/b", "a/b"},
        {"netdev:..", "'netdev:..'"},
        {"0,!3", "'!3'"},
        {"!!3", "'!3'"},
        {"all", "'all'"},
        {"99999999999999999999", "too large"},
        {"0-4294967296", "too large"},
        {"+0-18446744073709551616", "too large"},
        {"core:4294967295", "too large"},
        {"netdev:abcdefghijklmnop", "'netdev:abcdefghijklmnop'"},
        {"\001\377", "'?"
                     "?'"},
    };
    size_t i;

    for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const char *said = parse(cases[i].text, NULL);

        if (!ok(strcmp(said, "syntax") && strstr(said, cases[i].part),
                "refused: \"%s\"",
                i + 1 < sizeof(cases) / sizeof(*cases) ? cases[i].text
                                                       : "bytes")) {
            printf("# said: %s\n", said);
        }
        ok(strcmp(parse(cases[i].text, scope_of(20, 0, 19)), "touched") != 0,
           "  and the result is left alone");
    }
}

static void test_refused_scope(void)
{
    const cpuset_scope *scope = scope_of(20, 4, 15);

    is_str(parse("20", scope),
           "'20': there is no CPU 20, this machine's last "
           "is 19",
           "past the machine");
    is_str(parse("0-999999", scope),
           "'0-999999': there is no CPU 20, this machine's last is 19",
           "a range past the machine");
    is_str(parse("0x100000", scope),
           "'0x100000': there is no CPU 20, this machine's last is 19",
           "a mask past the machine");
    is_str(parse("+12", scope), "'+12': only 12 CPUs are allowed (4-15)",
           "more than are allowed");
    is_str(parse("core:0-2", scope),
           "'core:0-2': there is no core 2, this machine's last is 1",
           "an object too many");
    is_str(parse("netdev:eth9", scope), "'netdev:eth9': no such device",
           "an unknown device");
    is_str(parse("!0-19", scope), "'!0-19' is an empty set",
           "a complement that leaves nothing");
    ok(strlen(parse(apr_pstrcat(p, "0x1", apr_psprintf(p, "%0500d", 0), NULL),
                    scope))
           < 200,
       "a long item is not shown whole");
}

static void test_many(void)
{
    const cpuset_scope *scope = scope_of(5000, 0, 4999);
    char *mask = apr_palloc(p, 2000);

    memset(mask, '0', 1999);
    memcpy(mask, "0x8", 3);
    mask[2 + 1250] = '\0';
    is_str(parse("4096-4999", scope), "4096-4999", "CPUs past 4096");
    is_str(parse("0-4999:2500", scope), "0,2500", "a wide stride");
    is_str(parse(mask, scope), "4999", "a mask of 1250 digits");
    is_str(parse("+4999", scope), "4999", "the last allowed");
}

static void test_holes(void)
{
    cpuset_scope scope = *scope_of(20, 4, 15);
    cpuset *machine = cpuset_copy(p, scope.machine);

    hwloc_bitmap_clr_range(machine, 7, 9);
    scope.machine = machine;
    scope.allowed = machine;
    is_str(parse("0-6,10", &scope), "0-6,10", "round a hole");
    is_str(parse("0-10", &scope), "0-10",
           "over a hole: what is not there is for the plan to drop");
    is_str(parse("+6-7", &scope), "6,10", "counting skips the hole");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&p, NULL);
    test_accepted();
    test_refused_syntax();
    test_refused_scope();
    test_many();
    test_holes();
    apr_pool_destroy(p);
    apr_terminate();
    return done();
}
