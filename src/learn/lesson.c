/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/lesson.h"

#include "http/response_304.h"

#include <stdlib.h>
#include <string.h>

/* @param head where the bytes of a head belong */
static lesson *make(const conn_note *note, lesson_kind kind, size_t head_len,
                    const char *path, const watched *on, char **head)
{
    size_t path_len = path ? strlen(path) + 1 : 0;
    size_t watch_len = on ? on->len : 0;
    lesson *l =
        malloc(sizeof(*l) + note->key_len + path_len + watch_len + head_len);
    char *p;

    if (!l) {
        return NULL;
    }
    memset(l, 0, sizeof(*l));
    l->kind = (uint8_t)kind;
    l->ask = note->ask;
    l->mask = note->vary;
    p = (char *)(l + 1);
    l->key = memcpy(p, note->bytes, note->key_len);
    l->key_len = note->key_len;
    l->key_base = (uint16_t)request_key_base(&note->req, note->key_len);
    p += note->key_len;
    if (path) {
        l->path = memcpy(p, path, path_len);
        p += path_len;
    }
    if (watch_len) {
        l->watch = memcpy(p, on->bytes, watch_len);
        l->watch_len = (uint16_t)watch_len;
        p += watch_len;
    }
    *head = p;
    return l;
}

lesson *lesson_make(const conn_note *note, lesson_kind kind, const response *a,
                    const char *path, const watched *on)
{
    char *head;
    lesson *l = make(note, kind, a ? response_bytes(a) : 0, path, on, &head);

    if (l && a) {
        response_copy(&l->answer, a, head);
    }
    return l;
}

lesson *lesson_make_304(const conn_note *note, const response_304 *u,
                        const char *path, const watched *on)
{
    char *head;
    lesson *l = make(note, LESSON_304, u->head_len, path, on, &head);

    if (l) {
        response_304_copy(&l->unchanged, u, head);
    }
    return l;
}

void lesson_free(lesson *l)
{
    free(l->body);
    free(l);
}
