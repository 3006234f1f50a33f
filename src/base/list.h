/* SPDX-License-Identifier: Apache-2.0 */
/* list: intrusive circular doubly linked lists. Internal to cache. */
#ifndef CPUAFFINITY_LIST_H
#define CPUAFFINITY_LIST_H

#include <stddef.h>

typedef struct list {
    struct list *prev;
    struct list *next;
} list;

/* The structure of type @a t whose member @a m is at @a link. */
#define LIST_OF(link, t, m) ((t *)((char *)(link)-offsetof(t, m)))

static inline void list_init(list *l)
{
    l->prev = l->next = l;
}

static inline int list_empty(const list *l)
{
    return l->next == l;
}

/* Removes a member; it is then a list of its own. */
static inline void list_remove(list *l)
{
    l->prev->next = l->next;
    l->next->prev = l->prev;
    list_init(l);
}

/* Moves a member, in a list or not, to the front of @a head. */
static inline void list_front(list *head, list *l)
{
    list_remove(l);
    l->next = head->next;
    l->prev = head;
    head->next->prev = l;
    head->next = l;
}

#endif
