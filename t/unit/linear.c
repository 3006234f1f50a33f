/* SPDX-License-Identifier: Apache-2.0 */
/* linear: the form, what is found, and that a text that is made for it takes
 * no longer than another one. */
#include "base/linear.h"

#include <stdlib.h>

#include "tap.h"

/* Taken in, in the configuration of Debian's mod_setenvif and in httpd's own
 * manual. */
static const char *const taken[] = {
    "Mozilla/2",
    "MSIE 4\\.0b2;",
    "RealPlayer 4\\.0",
    "Java/1\\.0",
    "JDK/1\\.0",
    "Microsoft Data Access Internet Publishing Provider",
    "MS FrontPage",
    "^WebDrive",
    "^WebDAVFS/1.[012345678]",
    "^gnome-vfs/1.0",
    "^gvfs/1",
    "^XML Spy",
    "^Dreamweaver-WebDAV-SCM1",
    " Konqueror/4",
    "^Mozilla/4\\.0[678]",
    "\\bMSI[E]",
    "MSIE [2-6]",
    "(bot|crawler|spider)",
    "^https?://(www\\.)?example\\.com$",
    ".+",
    "^(.*)x\\b",
    "(?:a|b)*?c",
};

/* httpd's threads alone. */
static const char *const refused[] = {
    "",      "^$",          "a*",     "a|",      "(a",    "a)",
    "a{2}",  "(a)\\1",      "a++",    "(?=a)b",  "(?i)a", "\\Ba",
    "a\\b+", "[[:alpha:]]", "[]a]",   "[a-\\d]", "[z-a]", "[a",
    "\\",    "[\\",         "(^a|b)", "\\x41",   "\xe4",  "(*LIMIT_MATCH=1)a",
    "a**",   "*a",          "x\\",
};

static const struct {
    const char *pattern;
    long icase;
    const char *text;
    long found;
} cases[] = {
    {"MSIE 4\\.0b2;", 0, "Mozilla/4.0 (compatible; MSIE 4.0b2; x)", 1},
    {"MSIE 4\\.0b2;", 0, "Mozilla/4.0 (compatible; MSIE 4x0b2; x)", 0},
    {"^gvfs/1", 0, "gvfs/1.2", 1},
    {"^gvfs/1", 0, "x gvfs/1.2", 0},
    {"^gvfs/1", 0, "Gvfs/1.2", 0},
    {"^gvfs/1", 1, "GVFS/1.2", 1},
    {"a|^b|c$", 0, "xb", 0},
    {"a|^b|c$", 0, "bx", 1},
    {"a|^b|c$", 0, "xc", 1},
    {"a|^b|c$", 0, "cx", 0},
    {"aab", 0, "aaaab", 1},
    {"\\bMSI[E]", 0, "xMSIE", 0},
    {"\\bMSI[E]", 0, "x;MSIE", 1},
    {"bot\\b", 0, "bots robot", 1},
    {"bot\\b", 0, "bots", 0},
    {"[^a-c]", 0, "abcab", 0},
    {"[^a-c]", 1, "abCAB", 0},
    {"[^a-c]", 0, "abcAb", 1},
    {"^(x+x+)+y$", 0, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 0},
    {"^(x+x+)+y$", 0, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxy", 1},
    {"^https?://(www\\.)?a\\.(com|org)$", 0, "http://a.org", 1},
    {"^https?://(www\\.)?a\\.(com|org)$", 0, "http://wwwa.org", 0},
    {"a.b", 0, "a\tb", 1},
    {"a\\d+\\s\\w", 0, "a12 _", 1},
    {"a\\D", 0, "a1", 0},
};

static void form(void)
{
    size_t i;

    for (i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
        linear *set = linear_make();

        ok(!linear_add(set, taken[i], 0), "taken: %s", taken[i]);
        linear_free(set);
    }
    for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        linear *set = linear_make();

        ok(linear_add(set, refused[i], 0) == -1, "refused: case %zu", i);
        ok(!linear_found(set, "aaaa", 4), "and leaves nothing");
        linear_free(set);
    }
}

static void found(void)
{
    size_t i;

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        linear *set = linear_make();

        ok(!linear_add(set, cases[i].pattern, cases[i].icase)
               && linear_found(set, cases[i].text, strlen(cases[i].text))
                      == cases[i].found,
           "%s in %s", cases[i].pattern, cases[i].text);
        linear_free(set);
    }
}

/* Many in one set, and one that does not fit leaves the others. */
static void sets(void)
{
    linear *set = linear_make();
    char word[70];
    int i, n;

    for (i = 0; i < 14; i++) {
        linear_add(set, taken[i], 0);
    }
    ok(linear_found(set, "x Konqueror/4.1", 15), "the last of many");
    ok(linear_found(set, "Mozilla/2", 9), "the first of many");
    ok(!linear_found(set, "Mozilla/5.0 (X11)", 17), "none of many");
    ok(linear_add(set, "zebra|a{2}", 0) == -1 && !linear_found(set, "zebra", 5),
       "half of an expression is none");
    memset(word, 'k', sizeof(word));
    word[65] = '\0';
    ok(linear_add(set, word, 0) == -1, "one of 65 positions is too long");
    word[64] = '\0';
    for (n = 0; n < 100 && !linear_add(set, word, 0); n++) {
        ;
    }
    ok(n > 8 && n < LINEAR_AUTOMATA, "a set is bounded");
    ok(linear_found(set, "Mozilla/2", 9), "and as it was");
    linear_free(set);
}

/* What takes PCRE minutes, or until its limit. */
static void hostile(void)
{
    static const char *const patterns[] = {"(a+)+$", "(a|aa)+b", "a*a*a*a*a*b",
                                           "^(([a-z])+.)+[A-Z]([a-z])+$"};
    static char text[8000];
    linear *set = linear_make();
    size_t i;
    int n = 0, round;

    for (i = 0; i < 4; i++) {
        linear_add(set, patterns[i], 0);
    }
    memset(text, 'a', sizeof(text));
    text[sizeof(text) - 1] = '!';
    for (round = 0; round < 100; round++) {
        n += linear_found(set, text, sizeof(text));
    }
    is_int(n, 0, "a hundred hostile texts");
    linear_free(set);
}

int main(void)
{
    form();
    found();
    sets();
    hostile();
    return done();
}
