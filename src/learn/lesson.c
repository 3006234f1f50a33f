/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/lesson.h"

#include <stdlib.h>
#include <string.h>

lesson *lesson_make(const conn_note *note, lesson_kind kind, const response *a,
                    const char *path)
{
    size_t head_len = a ? response_bytes(a) : 0;
    size_t path_len = path ? strlen(path) + 1 : 0;
    lesson *l = malloc(sizeof(*l) + note->key_len + path_len + head_len);
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
    p += note->key_len;
    if (path) {
        l->path = memcpy(p, path, path_len);
        p += path_len;
    }
    if (a) {
        response_copy(&l->answer, a, p);
    }
    return l;
}

void lesson_free(lesson *l)
{
    free(l->body);
    free(l);
}
