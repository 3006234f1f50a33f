/* SPDX-License-Identifier: Apache-2.0 */
/* advice: what costs most out of a status, its difference to an earlier one,
 * and statuses that are broken or lie.
 * links: src/cli/advise_text.c
 */
#include "report/advice.h"

#include <stdlib.h>

#include <apr_general.h>

#include "cli/advise_text.h"

#include "tap.h"

static const char status[] =
    "{'seats':[],'learning':{'generation':%s,'since':7,"
    "'requests':{'loop':%s,'httpd':9,'elsewhere':%s},'servers':["
    "{'server':'a','obstacles':[{'rule':'R3','what':'gzip','advice':'less',"
    "'section':'server','file':'h.conf','line':212,'requests':%s}],"
    "'causes':[{'kind':'request','name':'field','text':'a field',"
    "'advice':'x','requests':10},{'kind':'learn','name':'new','text':'n',"
    "'advice':'x','requests':5}]},"
    "{'server':'b','obstacles':[{'rule':'R3','what':'gzip','advice':'less',"
    "'section':'server','file':'h.conf','line':212,'requests':20}]}]}}";

static json_t *parse(const char *text)
{
    char *copy = strdup(text), *p;
    json_t *j;

    for (p = copy; *p; p++) {
        *p = *p == '\'' ? '"' : *p;
    }
    j = json_loads(copy, JSON_DECODE_ANY, NULL);
    free(copy);
    return j;
}

static json_t *make(const char *generation, const char *loop,
                    const char *elsewhere, const char *requests)
{
    char text[2000];

    snprintf(text, sizeof(text), status, generation, loop, elsewhere, requests);
    return parse(text);
}

static json_t *advise(json_t *now, json_t *before)
{
    const char *why;
    json_t *a = advice_make(now, before, &why);

    json_decref(now);
    json_decref(before);
    return a;
}

static json_t *row(const json_t *a, const char *list, size_t i)
{
    return json_array_get(json_object_get(a, list), i);
}

static long number(const json_t *o, const char *key)
{
    return (long)json_integer_value(json_object_get(o, key));
}

static const char *text(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

static void order(void)
{
    json_t *a = advise(make("1", "150", "5", "30"), NULL);
    const json_t *all = json_object_get(a, "requests");

    is_int(number(all, "loop"), 150, "answered by the loop");
    is_int(number(all, "httpd"), 70, "by httpd: the sum of the causes");
    is_int(number(all, "all"), 220, "all");
    ok(!json_is_true(json_object_get(a, "few")), "enough");
    is_int((long)json_array_size(json_object_get(a, "costs")), 3, "three");
    is_str(text(row(a, "costs", 0), "what"), "gzip", "the dearest first");
    is_int(number(row(a, "costs", 0), "requests"), 50, "of both servers");
    is_int(number(row(a, "costs", 0), "servers"), 2, "which are two");
    is_str(text(row(a, "costs", 0), "where"), "h.conf:212", "its place");
    is_str(text(row(a, "costs", 1), "rule"), "field", "then the field");
    is_str(text(row(a, "costs", 2), "kind"), "off", "then where it is off");
    is_str(text(row(a, "learning", 0), "rule"), "new", "learning apart");
    ok(json_real_value(json_object_get(row(a, "costs", 0), "share")) > 22.7
           && json_real_value(json_object_get(row(a, "costs", 0), "share"))
                  < 22.8,
       "its share of all");
    json_decref(a);
}

static void earlier(void)
{
    json_t *a =
        advise(make("1", "950", "5", "630"), make("1", "50", "5", "30"));

    is_int(number(json_object_get(a, "requests"), "all"), 1500, "since then");
    is_int((long)json_array_size(json_object_get(a, "costs")), 1,
           "what did not grow is not there");
    is_int(number(row(a, "costs", 0), "requests"), 600, "what grew");
    ok(json_is_true(json_object_get(a, "later")), "it is a difference");
    json_decref(a);

    a = advise(make("2", "950", "5", "630"), make("1", "50", "5", "30"));
    ok(json_is_true(json_object_get(a, "restarted")), "restarted");
    ok(!json_is_true(json_object_get(a, "later")), "no difference then");
    is_int(number(row(a, "costs", 0), "requests"), 650, "nothing taken away");
    json_decref(a);

    a = advise(make("1", "50", "0", "1"), make("1", "950", "5", "30"));
    is_int(number(json_object_get(a, "requests"), "all"), 0,
           "never below nothing");
    ok(json_is_true(json_object_get(a, "few")), "which is few");
    json_decref(a);
}

static void unmet(void)
{
    json_t *a =
        advise(parse("{'seats':[],'learning':{'requests':{},'servers':["
                     "{'server':'a','state':'off','obstacles':["
                     "{'what':'first','covers':true,'requests':9},"
                     "{'what':'second','covers':true,'file':'f','line':3},"
                     "{'what':'part','covers':false}]},"
                     "{'server':'b','state':'on','obstacles':["
                     "{'what':'third','covers':true}]}]}}"),
               NULL);

    is_int((long)json_array_size(json_object_get(a, "behind")), 1,
           "one is behind another");
    is_str(text(row(a, "behind", 0), "what"), "second", "which it is");
    is_str(text(row(a, "behind", 0), "where"), "f:3", "where");
    json_decref(a);
}

static void refused(void)
{
    static const char *const bad[] = {"1",
                                      "'x'",
                                      "null",
                                      "[]",
                                      "{}",
                                      "[{'seats':[],'learning':{}}]",
                                      "{'seats':[]}",
                                      "{'seats':[],'learning':[]}",
                                      "{'learning':{'requests':{}}}",
                                      "{'seats':[],'learning':{}}",
                                      "{'seats':[],'learning':{'requests':3}}"};
    size_t i;

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const char *why = NULL;
        json_t *j = parse(bad[i]);
        json_t *a = advice_make(j, NULL, &why), *b;
        json_t *good = make("1", "1", "1", "1");

        ok(!a && why && *why, "not a status: %s", bad[i]);
        why = NULL;
        b = advice_make(good, j, &why);
        ok(!b && why && *why, "nor an earlier one: %s", bad[i]);
        json_decref(good);
        json_decref(j);
    }
    ok(!parse("{'seats':[],'learning':{'requ"), "cut");
}

static void lies(void)
{
    static const char *const some[] = {
        "{'seats':1,'learning':{'requests':{},'servers':{'a':1}}}",
        "{'seats':[],'learning':{'requests':{'loop':'x'},'servers':[1,[],"
        "{'server':1,'obstacles':[1,{'requests':5}],'causes':{'a':1}}]}}",
        "{'seats':[],'learning':{'requests':{'loop':9223372036854775807},"
        "'servers':[{'causes':[{'requests':9223372036854775807},"
        "{'requests':9223372036854775807},{'requests':-3},{'requests':1e9}]}"
        "]}}"};
    apr_pool_t *p;
    size_t i;

    apr_initialize();
    apr_pool_create(&p, NULL);
    for (i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
        json_t *a = advise(parse(some[i]), NULL);
        FILE *out = fopen("/dev/null", "w");

        ok(a != NULL && number(json_object_get(a, "requests"), "all") >= 0,
           "lie %d does no harm", (int)i);
        advise_text_print(p, out, a, 1);
        fclose(out);
        json_decref(a);
    }
    is_str(advise_text_safe(p, "a\033[2Jb\r\n\t\177"),
           "a\\x1b[2Jb\\x0d\\x0a\\x09\\x7f", "control characters");
    is_str(advise_text_safe(p, "\xc3\xa4\xc2\x9b\xe2\x80\xaex"),
           "\xc3\xa4\\x9b\\u202ex", "a letter, C1, right to left");
    is_str(advise_text_safe(p, "\xff\xc3"), "\\xff\\xc3", "no UTF-8");
    is_str(advise_text_safe(p, "\xf3\xa0\x81\x81"), "\\ue0041", "a tag");
    apr_pool_destroy(p);
    apr_terminate();
}

int main(void)
{
    order();
    earlier();
    unmet();
    refused();
    lies();
    return done();
}
