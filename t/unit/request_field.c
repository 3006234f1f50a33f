/* SPDX-License-Identifier: Apache-2.0 */
/* request_field: which fields are special, from the start and declared. */
#include "http/request.h"

#include "tap.h"

#include <string.h>

#define F(fields) "GET / HTTP/1.1\r\nHost: a\r\n" fields "\r\n"

static request_verdict look(const char *text, request *req)
{
    return request_recognise(text, strlen(text), NULL, req);
}

static int field(const char *name)
{
    return request_field(name, strlen(name));
}

static int read_it(const char *name)
{
    return request_field_read(name, strlen(name));
}

static void names(void)
{
    unsigned i, good = 0, why = 1;

    for (i = 0; i < REQUEST_IDS; i++) {
        const char *name = request_field_name(i);
        size_t len = strlen(name);

        good += request_field_find(name, len) == (int)i
                && request_field_find(name, len - 1) != (int)i
                && field(name) == (int)i;
        why &= request_field_why(i)[0] != '\0';
    }
    is_int(good, REQUEST_IDS, "every name is found");
    ok(why, "every name has a reason");
    ok(!request_field_name(REQUEST_IDS) && !request_field_why(REQUEST_IDS),
       "none past the end");
    is_int(field("HOST"), REQUEST_HOST, "any case");
    is_int(field("Hos"), REQUEST_FIELD_INERT, "a part is no name");
    is_int(field(""), REQUEST_FIELD_REFUSED, "nor is nothing");
    is_int(field("Content-LENGTH"), REQUEST_FIELD_REFUSED, "httpd's");
    is_int(field("X Y"), REQUEST_FIELD_REFUSED, "no token never comes");
    is_int(field("If_Range"), REQUEST_FIELD_INERT, "near miss");
}

/* The recogniser's table and this one agree on what a name is made of. */
static void bytes(void)
{
    char text[] = F("X?Y: a\r\n");
    char *at = strchr(text, '?');
    unsigned c, wrong = 0;
    request r;

    for (c = 1; c < 256; c++) {
        *at = (char)c;
        /* a colon ends the name */
        wrong += (look(text, &r) == REQUEST_MINE)
                 != (request_field_is_token((char)c) || c == ':');
    }
    is_int(wrong, 0, "bytes 1-255 in a name");
}

/* What the configuration reads. */
static void declared(void)
{
    static const char text[] = F("X-A: 1\r\nX-b: 2\r\nx-c: 3\r\n");
    request r;
    int a;

    is_int(field("X-A"), REQUEST_FIELD_INERT, "not yet declared");
    a = read_it("X-A");
    is_int(a, REQUEST_IDS, "the first declared id");
    is_int(read_it("x-a"), a, "declared again");
    is_int(field("x-A"), a, "found in any case");
    ok(!strcmp(request_field_name((unsigned)a), "x-a")
           && request_field_why((unsigned)a),
       "it has a name and a reason");
    ok(look(text, &r) == REQUEST_MINE && r.fields == 4
           && request_has(&r, (unsigned)a) && r.header[a].len == 1,
       "its value is seen");
    ok(look(F("X-A: 1\r\nx-a: 1\r\n"), &r) == REQUEST_NOT_MINE,
       "and not twice");
    ok(look(F("Via: 1\r\nVia: 2\r\n"), &r) == REQUEST_MINE
           && read_it("Via") == REQUEST_VIA
           && look(F("Via: 1\r\nVia: 2\r\n"), &r) == REQUEST_NOT_MINE,
       "one that had an id neither, from now on");
    request_field_refuse("x-B", 3);
    ok(look(text, &r) == REQUEST_NOT_MINE, "one is refused");
    is_int(read_it("X-B"), REQUEST_FIELD_REFUSED, "for good");
    request_field_refuse("X-A", 3);
    is_int(field("X-A"), REQUEST_FIELD_REFUSED, "a read one too");
    is_int(read_it("Expect"), REQUEST_FIELD_REFUSED, "httpd's own");
    is_int(read_it("^X-"), REQUEST_FIELD_REFUSED, "a name to be confused");
    is_int(field("~X-"), REQUEST_FIELD_REFUSED, "is refused with the other");
    is_int(read_it("X Y"), REQUEST_FIELD_REFUSED, "no name");
    is_int(field("X-C"), REQUEST_FIELD_INERT, "others are inert");
}

/* More than there is room for. */
static void many(void)
{
    static char name[9000];
    unsigned i, n = 0;
    int id;

    request_field_reset();
    for (i = 0; i < 70; i++) {
        id = request_field_read(name, (size_t)sprintf(name, "x-%u", i));
        n += id >= 0 && (unsigned)id < request_field_ids();
    }
    is_int(request_field_ids(), REQUEST_ID_LIMIT, "all ids are used");
    is_int(n, REQUEST_ID_LIMIT - REQUEST_IDS, "as many as there are");
    is_int(field("x-69"), REQUEST_FIELD_REFUSED, "others are refused");
    request_field_reset();
    memset(name, 'x', sizeof(name));
    is_int(request_field_read(name, 300), REQUEST_IDS, "a long name");
    is_int(request_field(name, 300), REQUEST_IDS, "is found");
    is_int(request_field(name, 299), REQUEST_FIELD_INERT, "as a whole");
    is_int(request_field_read(name, sizeof(name)), REQUEST_FIELD_REFUSED,
           "one that is too long to be remembered");
    is_int(field("X-C"), REQUEST_FIELD_REFUSED, "refuses all");
    request_field_reset();
    is_int(field("X-C"), REQUEST_FIELD_INERT, "until a reset");
    is_int(field("x-1"), REQUEST_FIELD_INERT, "as with others");
    is_int(request_field_ids(), REQUEST_IDS, "ids are free again");
    for (i = 0; i < 500; i++) {
        request_field_refuse(name, (size_t)sprintf(name, "x-%u", i));
    }
    is_int(field("x-499"), REQUEST_FIELD_REFUSED, "refused without end");
    is_int(field("Host"), REQUEST_HOST, "the fixed ones stay");
    request_field_reset();
}

int main(void)
{
    names();
    bytes();
    declared();
    many();
    return done();
}
