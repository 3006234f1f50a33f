/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/rule_direct.h"

#include <string.h>

#include "conf/config.h"
#include "learn/htaccess.h"
#include "learn/mark.h"

/* Is it the first name of the DirectoryIndex that counts for the directory? */
static int is_first_index(const verdict_subject *s, const char *name)
{
    const config_dir *dir = config_dir_get(s->t->asked);
    const char *first = "index.html";

    if (dir->index != CONFIG_UNSET) {
        first = dir->names ? mark_word(dir->index) : NULL;
    }
    return first && !strcmp(name, first)
           && !htaccess_changes_index(s->t->access, name);
}

reason_id rule_direct(verdict_subject *s)
{
    const request_slice *path = &s->t->note->req.path;
    const char *asked = conn_note_head(s->t->note) + path->off;
    size_t len = strlen(s->r->uri);
    const char *mapped = s->t->mapped, *name;
    size_t mapped_len;

    if (len == path->len && !memcmp(asked, s->r->uri, len)) {
        return mapped && !strcmp(mapped, s->r->filename) ? REASON_OK
                                                         : REASON_INDEX;
    }
    if (!mapped || !path->len || asked[path->len - 1] != '/' || len <= path->len
        || memcmp(asked, s->r->uri, path->len) != 0) {
        return REASON_INDEX;
    }
    name = s->r->uri + path->len;
    mapped_len = strlen(mapped);
    if (mapped_len && mapped[mapped_len - 1] == '/') {
        mapped_len--;
    }
    s->detail = name;
    return is_first_index(s, name)
                   && !strncmp(s->r->filename, mapped, mapped_len)
                   && s->r->filename[mapped_len] == '/'
                   && !strcmp(s->r->filename + mapped_len + 1, name)
               ? REASON_OK
               : REASON_INDEX;
}
