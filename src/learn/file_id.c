/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/file_id.h"

#define SETTLED apr_time_from_sec(2)

static apr_time_t time_of(const struct timespec *t)
{
    return apr_time_make(t->tv_sec, t->tv_nsec / 1000);
}

int file_id_is(const apr_finfo_t *found, const struct stat *st)
{
    return found->filetype == APR_REG && S_ISREG(st->st_mode)
           && found->device == st->st_dev && found->inode == st->st_ino
           && found->size == st->st_size && found->user == st->st_uid
           && found->group == st->st_gid
           && found->mtime == time_of(&st->st_mtim)
           && found->ctime == time_of(&st->st_ctim);
}

int file_id_is_settled(const struct stat *st, apr_time_t now)
{
    apr_time_t modified = time_of(&st->st_mtim),
               changed = time_of(&st->st_ctim);

    return now - (changed > modified ? changed : modified) >= SETTLED;
}
