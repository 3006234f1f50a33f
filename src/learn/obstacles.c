/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/obstacles.h"

#include "apr_hash.h"
#include "apr_strings.h"

#include <stdlib.h>
#include <strings.h>

typedef struct entry {
    obstacle o;
    const ap_directive_t *node;
    const ap_directive_t *section;
    int yields;
    int partly;
    unsigned order; /* as they came */
} entry;

/* Where FixedStatic is on, or a directive is harmless. */
typedef struct spot {
    unsigned server;
    const char *directory; /* NULL: not below one that is known */
    const char *directive;
} spot;

static struct {
    apr_pool_t *pool;
    apr_array_header_t *entries;
    apr_hash_t *told; /* keys of is_told() */
    unsigned added;
    unsigned finished;             /* so many of them stand in order */
    const ap_directive_t *reached; /* the section whose reach was made last */
    const reach *reach;
    const char *section;
    apr_array_header_t *on;       /* of spot */
    apr_array_header_t *harmless; /* of spot */
} all;

void obstacles_reset(apr_pool_t *p)
{
    memset(&all, 0, sizeof(all));
    all.pool = p;
    all.entries = apr_array_make(p, 16, sizeof(entry));
    all.told = apr_hash_make(p);
    all.on = apr_array_make(p, 8, sizeof(spot));
    all.harmless = apr_array_make(p, 8, sizeof(spot));
}

static entry *entry_at(int i)
{
    return &APR_ARRAY_IDX(all.entries, i, entry);
}

/* Is one of the same group reported in that section? From now on it is. */
static int is_told(unsigned server, const ap_directive_t *section,
                   const obstacles_hint *hint)
{
    char *key =
        apr_psprintf(all.pool, "%u %pp %s %s", server, (const void *)section,
                     reason_rule(hint->reason), hint->group);

    ap_str_tolower(key);
    if (apr_hash_get(all.told, key, APR_HASH_KEY_STRING)) {
        return 1;
    }
    apr_hash_set(all.told, key, APR_HASH_KEY_STRING, key);
    return 0;
}

/* Text and reach, once for all servers that the section applies to. */
static void take_section(entry *e, const tree_place *at)
{
    if (!at->section) {
        return;
    }
    if (at->section != all.reached) {
        all.reached = at->section;
        all.reach = reach_make(all.pool, at->section);
        all.section = tree_section(all.pool, at);
    }
    e->o.section = all.section;
    e->o.reach = all.reach;
}

void obstacles_add(unsigned server, const tree_place *at,
                   const obstacles_hint *hint)
{
    const ap_directive_t *section = at ? at->section : NULL;
    entry *e;

    if (is_told(server, section, hint)) {
        return;
    }
    e = apr_array_push(all.entries);
    memset(e, 0, sizeof(*e));
    e->node = at ? at->node : NULL;
    e->section = section;
    e->order = all.added++;
    e->yields = hint->yields;
    e->partly = hint->partly;
    e->o.server = server;
    e->o.section = "server";
    e->o.file = at ? tree_file(at->node) : NULL;
    e->o.line = at ? at->node->line_num : 0;
    e->o.reason = hint->reason;
    e->o.rule = reason_rule(hint->reason);
    e->o.group = hint->group;
    e->o.quiet = hint->quiet;
    e->o.what = hint->what;
    e->o.advice = hint->advice;
    e->o.index = (unsigned)all.entries->nelts - 1;
    e->o.covers = !at;
    if (at) {
        take_section(e, at);
    }
}

void obstacles_harmless(unsigned server, const tree_place *at)
{
    spot *s = apr_array_push(all.harmless);

    s->server = server;
    s->directory = tree_directory(all.pool, at->section);
    s->directive = at->node->directive;
}

void obstacles_on(unsigned server, const tree_place *at, const char *root)
{
    spot *s = apr_array_push(all.on);

    s->server = server;
    s->directory = at ? tree_directory(all.pool, at->section) : root;
    s->directive = at ? "section" : NULL;
}

/* Is @a path the directory @a outer or below it? */
static int is_within(const char *path, const char *outer)
{
    size_t len = strlen(outer);

    while (len && outer[len - 1] == '/') {
        len--;
    }
    return !strncmp(path, outer, len) && (!path[len] || path[len] == '/');
}

/* Does another one of the same name replace it in a directory inside? */
static int is_replaced(const entry *e)
{
    const char *outer = tree_directory(all.pool, e->section);
    int i;

    for (i = 0; e->yields && i < all.harmless->nelts; i++) {
        const spot *s = &APR_ARRAY_IDX(all.harmless, i, spot);

        if (s->server == e->o.server && s->directory
            && !strcasecmp(s->directive, e->node->directive)
            && (!outer
                || (is_within(s->directory, outer)
                    && !is_within(outer, s->directory)))) {
            return 1;
        }
    }
    return 0;
}

/* Does the section hold every place where FixedStatic is on? */
static int covers(const entry *e)
{
    const char *directory = tree_directory(all.pool, e->section);
    int i, any = 0;

    if (e->partly) {
        return 0;
    }
    if (e->o.covers || !e->section) {
        return e->o.covers || !is_replaced(e);
    }
    for (i = 0; i < all.on->nelts; i++) {
        const spot *s = &APR_ARRAY_IDX(all.on, i, spot);

        if (s->server != e->o.server) {
            continue;
        }
        if (!directory
            || (strcmp(directory, "/")
                && !(s->directory && is_within(s->directory, directory)))) {
            return 0;
        }
        any = 1;
    }
    return any && !is_replaced(e);
}

/* Has the section FixedStatic off itself, or is FixedStatic on in other
 * directories only? */
static int is_elsewhere(const entry *e)
{
    const char *directory = tree_directory(all.pool, e->section);
    const ap_directive_t *n;
    int i;

    if (!e->section) {
        return 0;
    }
    for (n = e->section->first_child; n; n = n->next) {
        const char *word = tree_is(n, "FixedStatic") && !n->data
                               ? tree_word(all.pool, n, 0)
                               : NULL;

        if (word && !strcasecmp(word, "off")) {
            return 1;
        }
    }
    for (i = 0; directory && i < all.on->nelts; i++) {
        const spot *s = &APR_ARRAY_IDX(all.on, i, spot);

        if (s->server == e->o.server
            && (!s->directory || !s->directive
                || is_within(s->directory, directory)
                || is_within(directory, s->directory))) {
            return 0;
        }
    }
    return directory != NULL;
}

void obstacles_drop(unsigned server)
{
    int i, n = 0;

    for (i = 0; i < all.entries->nelts; i++) {
        if (entry_at(i)->o.server != server) {
            *entry_at(n++) = *entry_at(i);
        }
    }
    all.entries->nelts = n;
}

/* By server, then as they came. */
static int compare(const void *a, const void *b)
{
    const entry *x = a, *y = b;

    if (x->o.server != y->o.server) {
        return x->o.server < y->o.server ? -1 : 1;
    }
    return x->order < y->order ? -1 : 1;
}

void obstacles_finish(void)
{
    int i, n = 0;

    qsort(all.entries->elts, (size_t)all.entries->nelts, sizeof(entry),
          compare);

    for (i = 0; i < all.entries->nelts; i++) {
        entry e = *entry_at(i);

        if (!is_elsewhere(&e)) {
            e.o.index = (unsigned)n;
            e.o.covers = covers(&e);
            *entry_at(n++) = e;
        }
    }
    all.entries->nelts = n;
    all.finished = (unsigned)n;
}

unsigned obstacles_count(void)
{
    return all.entries ? (unsigned)all.entries->nelts : 0;
}

unsigned obstacles_first(unsigned server)
{
    unsigned low = 0, high = all.finished;

    while (low < high) {
        unsigned middle = (low + high) / 2;

        if (entry_at((int)middle)->o.server < server) {
            low = middle + 1;
        }
        else {
            high = middle;
        }
    }
    return low < all.finished && entry_at((int)low)->o.server == server
               ? low
               : obstacles_count();
}

const obstacle *obstacles_whole(unsigned server, reason_id reason)
{
    const obstacle *o;
    unsigned i;

    for (i = 0; (o = obstacles_at(i)); i++) {
        if (o->server == server && o->reason == reason && !o->reach) {
            return o;
        }
    }
    return NULL;
}

const obstacle *obstacles_at(unsigned n)
{
    return all.entries && n < (unsigned)all.entries->nelts
               ? &entry_at((int)n)->o
               : NULL;
}

const obstacle *obstacles_covering(unsigned server)
{
    const obstacle *o;
    unsigned i;

    for (i = 0; (o = obstacles_at(i)); i++) {
        if (o->server == server && o->covers) {
            return o;
        }
    }
    return NULL;
}

const obstacle *obstacles_of(unsigned server, const ap_directive_t *node)
{
    int i;

    for (i = 0; all.entries && i < all.entries->nelts; i++) {
        if (entry_at(i)->o.server == server && entry_at(i)->node == node) {
            return &entry_at(i)->o;
        }
    }
    return NULL;
}
