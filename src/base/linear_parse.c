/* SPDX-License-Identifier: Apache-2.0 */
#include "base/linear_parse.h"

#include <string.h>

#define DEPTH 16 /* of groups */

/* A part of the expression: where it can begin and end, and whether it can
 * match the empty string. */
typedef struct part {
    uint64_t first;
    uint64_t last;
    int empty;
} part;

typedef struct parse {
    linear_automaton *a;
    const char *p;
    int icase;
    int depth;
} parse;

/* A set of bytes. */
typedef struct bytes {
    uint64_t bit[4];
} bytes;

static void put(bytes *b, unsigned c)
{
    b->bit[c >> 6] |= (uint64_t)1 << (c & 63);
}

static int has(const bytes *b, unsigned c)
{
    return (int)(b->bit[c >> 6] >> (c & 63) & 1);
}

static void invert(bytes *b)
{
    int i;

    for (i = 0; i < 4; i++) {
        b->bit[i] = ~b->bit[i];
    }
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

int linear_is_word(char c)
{
    return is_letter(c) || is_digit(c) || c == '_';
}

static int is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Whether a byte of an expression may stand for itself. */
static int is_plain(char c)
{
    return c >= ' ' && c < 0x7f;
}

static void fold(bytes *b)
{
    unsigned c;

    for (c = 'a'; c <= 'z'; c++) {
        if (has(b, c) || has(b, c - 'a' + 'A')) {
            put(b, c);
            put(b, c - 'a' + 'A');
        }
    }
}

/* \d and the like at *p, after the backslash. 0 or -1 */
static int escaped_class(const char **p, bytes *b)
{
    static const struct {
        char name;
        int (*is)(char);
    } classes[] = {{'d', is_digit}, {'w', linear_is_word}, {'s', is_space}};
    bytes set = {{0}};
    unsigned c;
    size_t i;

    for (i = 0; i < 3; i++) {
        if ((**p | 0x20) == classes[i].name) {
            break;
        }
    }
    if (i == 3) {
        return -1;
    }
    for (c = 0; c < 0x80; c++) {
        if (classes[i].is((char)c)) {
            put(&set, c);
        }
    }
    if (**p != classes[i].name) {
        invert(&set);
    }
    for (i = 0; i < 4; i++) {
        b->bit[i] |= set.bit[i];
    }
    (*p)++;
    return 0;
}

/* A character of a class that stands for itself. @return it, or -1 */
static int class_char(const char **p)
{
    char c = *(*p)++;

    if (c == '\\') {
        c = *(*p)++;
        return is_plain(c) && !is_letter(c) && !is_digit(c) ? c : -1;
    }
    return is_plain(c) && c != '[' && c != ']' ? c : -1;
}

/* One item of a class: an escape, a range or a character; a hyphen only as
 * the last one. 0 or -1 */
static int class_item(const char **p, bytes *b)
{
    int from, to;

    if (**p == '\\' && is_letter((*p)[1])) {
        (*p)++;
        return escaped_class(p, b) || (**p == '-' && (*p)[1] != ']') ? -1 : 0;
    }
    if (**p == '-' && (*p)[1] != ']') {
        return -1;
    }
    from = to = class_char(p);
    if (from < 0) {
        return -1;
    }
    if (**p == '-' && (*p)[1] != ']') {
        (*p)++;
        to = class_char(p);
    }
    if (to < from) {
        return -1;
    }
    for (; from <= to; from++) {
        put(b, (unsigned)from);
    }
    return 0;
}

/* [...] at *p, after the bracket. 0 or -1 */
static int class(parse *s, bytes *b)
{
    int not = *s->p == '^';

    s->p += not ;
    do {
        if (!*s->p || class_item(&s->p, b)) {
            return -1;
        }
    } while (*s->p != ']');
    s->p++;
    if (s->icase) {
        fold(b);
    }
    if (not ) {
        invert(b);
    }
    return 0;
}

/* Whatever matches one byte. 0 or -1 */
static int single(parse *s, bytes *b)
{
    char c = *s->p++;

    if (c == '[') {
        return class(s, b);
    }
    if (c == '.') {
        invert(b);
        return 0;
    }
    if (c == '\\') {
        if (is_letter(*s->p)) {
            return escaped_class(&s->p, b);
        }
        c = *s->p++;
        if (!is_plain(c) || is_digit(c)) {
            return -1;
        }
    }
    else if (!is_plain(c) || strchr("^$|()?*+{}", c)) {
        return -1;
    }
    put(b, (unsigned char)c);
    if (s->icase) {
        fold(b);
    }
    return 0;
}

/* A new position. 0 or -1 */
static int position(parse *s, part *out)
{
    linear_automaton *a = s->a;
    bytes b = {{0}};
    unsigned c;

    if (a->used == LINEAR_POSITIONS || single(s, &b)) {
        return -1;
    }
    out->first = out->last = (uint64_t)1 << a->used++;
    out->empty = 0;
    for (c = 0; c < 256; c++) {
        if (has(&b, c)) {
            a->at[c] |= out->first;
        }
    }
    return 0;
}

static void connect(linear_automaton *a, uint64_t last, uint64_t first)
{
    for (; last; last &= last - 1) {
        a->after[__builtin_ctzll(last)] |= first;
    }
}

static int alternatives(parse *s, part *out);

/* ( at s->p. 0 or -1 */
static int group(parse *s, part *out)
{
    int rc;

    s->p++;
    if (*s->p == '*' || (*s->p == '?' && s->p[1] != ':') || s->depth == DEPTH) {
        return -1;
    }
    s->p += *s->p == '?' ? 2 : 0;
    s->depth++;
    rc = alternatives(s, out);
    s->depth--;
    if (rc || *s->p != ')') {
        return -1;
    }
    s->p++;
    return 0;
}

/* One byte or a group, and how often. 0 or -1 */
static int piece(parse *s, part *out)
{
    if (*s->p == '(' ? group(s, out) : position(s, out)) {
        return -1;
    }
    if (!*s->p || !strchr("?*+", *s->p)) {
        return 0;
    }
    if (*s->p != '?') {
        connect(s->a, out->last, out->first);
    }
    out->empty |= *s->p++ != '+';
    if (*s->p == '?') {
        s->p++; /* lazy: matches the same texts */
    }
    /* possessive, or what PCRE refuses too */
    return *s->p && strchr("?*+", *s->p) ? -1 : 0;
}

/* 1 at the end of an alternative, with or without an anchor. */
static int over(const parse *s)
{
    const char *p = s->p;

    if (!s->depth) {
        p += *p == '$' ? 1 : *p == '\\' && p[1] == 'b' ? 2 : 0;
    }
    return *p == '\0' || *p == '|' || (s->depth && *p == ')');
}

/* Pieces one after another; none: the empty string. 0 or -1 */
static int sequence(parse *s, part *out)
{
    *out = (part){0, 0, 1};
    while (!over(s)) {
        part next;

        if (piece(s, &next)) {
            return -1;
        }
        connect(s->a, out->last, next.first);
        out->first |= out->empty ? next.first : 0;
        out->last = next.last | (next.empty ? out->last : 0);
        out->empty &= next.empty;
    }
    return 0;
}

/* The alternatives of a group. 0 or -1 */
static int alternatives(parse *s, part *out)
{
    *out = (part){0, 0, 0};
    for (;;) {
        part next;

        if (sequence(s, &next)) {
            return -1;
        }
        out->first |= next.first;
        out->last |= next.last;
        out->empty |= next.empty;
        if (*s->p != '|') {
            return 0;
        }
        s->p++;
    }
}

/* One alternative of the whole expression, with its anchors. 0 or -1 */
static int branch(parse *s)
{
    linear_automaton *a = s->a;
    uint64_t *first = &a->first, *last = &a->last;
    part all;

    if (*s->p == '^') {
        first = &a->first_begin;
        s->p++;
    }
    else if (s->p[0] == '\\' && s->p[1] == 'b') {
        first = &a->first_word;
        s->p += 2;
    }
    if (sequence(s, &all) || all.empty) {
        return -1;
    }
    if (*s->p == '$') {
        last = &a->last_end;
        s->p++;
    }
    else if (*s->p == '\\') {
        last = &a->last_word;
        s->p += 2;
    }
    *first |= all.first;
    *last |= all.last;
    a->finals |= all.last;
    return 0;
}

/* Tabulates what follows each byte of a set: eight look-ups for a set. */
static void tabulate(linear_automaton *a)
{
    unsigned i, set;

    a->bytes = (a->used + 7) / 8;
    for (i = 0; i < a->bytes; i++) {
        for (set = 1; set < 256; set++) {
            unsigned low = (unsigned)__builtin_ctz(set);

            a->follow[i][set] =
                a->follow[i][set & (set - 1)] | a->after[8 * i + low];
        }
    }
}

int linear_parse(linear_automaton *a, const char **p, int icase)
{
    linear_automaton made = *a;
    parse s = {.a = &made, .p = *p, .icase = icase};

    if (branch(&s)) {
        return -1;
    }
    tabulate(&made);
    *a = made;
    *p = s.p;
    return 0;
}
