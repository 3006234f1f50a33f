/* cachelist: circular doubly linked lists inside their members. Internal to
 * cache. */
#ifndef CPUAFFINITY_LIST_H
#define CPUAFFINITY_LIST_H

#include <stddef.h>

typedef struct cachelist {
    struct cachelist *prev;
    struct cachelist *next;
} cachelist;

/* The structure of type @a t whose member @a m is at @a link. */
#define CACHELIST_OF(link, t, m) ((t *)((char *)(link)-offsetof(t, m)))

static inline void cachelist_init(cachelist *l)
{
    l->prev = l->next = l;
}

static inline int cachelist_empty(const cachelist *l)
{
    return l->next == l;
}

/* Takes a member out; it is then a list of its own. */
static inline void cachelist_remove(cachelist *l)
{
    l->prev->next = l->next;
    l->next->prev = l->prev;
    cachelist_init(l);
}

/* Puts a member, in a list or not, at the front of @a head. */
static inline void cachelist_front(cachelist *head, cachelist *l)
{
    cachelist_remove(l);
    l->next = head->next;
    l->prev = head;
    head->next->prev = l;
    head->next = l;
}

#endif
