/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the cache share: files in a directory of their own, and
 * answers of a pretended httpd. */
#ifndef CACHETEST_H
#define CACHETEST_H

#include "cache/cache.h"
#include "http/request.h"
#include "http/response.h"

#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static char dir[] = "/tmp/cpuaff-cache-XXXXXX";

/* A path below the test's directory; four may be in use. */
static inline const char *path(const char *name)
{
    static char buf[4][128];
    static int i;

    i = (i + 1) % 4;
    snprintf(buf[i], sizeof(buf[i]), "%s/%s", dir, name);
    return buf[i];
}

static inline void write_file(const char *name, const char *text)
{
    FILE *f = fopen(path(name), "w");

    if (!f || fputs(text, f) < 0 || fclose(f)) {
        printf("Bail out! %s: %s\n", name, strerror(errno));
        exit(1);
    }
}

/* Flags and Date of the next answers. */
static unsigned flags;
static const char *date = "Sun, 06 Nov 1994 08:49:37 GMT";

static inline const response *answer_of(int64_t size, const char *extra)
{
    static char head[1024], copy[1024];
    static response a;
    const char *error;

    snprintf(head, sizeof(head),
             "HTTP/1.1 200 OK\r\nDate: %s\r\n%sContent-Length: %lld\r\n\r\n",
             date, extra, (long long)size);
    if (response_learn(&a, head, strlen(head), size, flags, copy, &error)) {
        printf("Bail out! %s\n", error);
        exit(1);
    }
    return &a;
}

/* A key is a text; from its '?' on it is the query, which nobody reads. */
static inline const cache_key *key_of(const char *text)
{
    static cache_key k;

    k.bytes = (const unsigned char *)text;
    k.len = strlen(text);
    k.base = strcspn(text, "?");
    k.shared = 1;
    return &k;
}

/* httpd answered a key with a file, as it is now. */
static inline cache_outcome learn(cache *c, const char *key, const char *name,
                                  const char *extra, int64_t now)
{
    struct stat st;

    if (stat(path(name), &st)) {
        return CACHE_REFUSED;
    }
    return cache_learn(c, key_of(key), answer_of(st.st_size, extra), path(name),
                       &st, now, NULL);
}

static inline cache_entry *find(cache *c, const char *key)
{
    return cache_find(c, key_of(key));
}

static inline int use(cache *c, const char *key, int64_t now)
{
    cache_entry *e = find(c, key);

    return e && cache_may_use(c, e, now);
}

static inline cache_outcome live(cache *c, const char *key, const char *name,
                                 int64_t now)
{
    learn(c, key, name, "", now);
    return learn(c, key, name, "", now);
}

static inline cache_config config(void)
{
    return (cache_config){100, 1000, 10, 100, 2, {1, 2}, 0};
}

static inline cache *make(void)
{
    cache_config k = config();

    return cache_make(&k);
}

static inline cache_stats stats(cache *c)
{
    cache_stats s;

    cache_get_stats(c, &s);
    return s;
}

static inline int cachetest_start(void)
{
    if (!mkdtemp(dir)) {
        printf("Bail out! %s: %s\n", dir, strerror(errno));
        return -1;
    }
    return 0;
}

static inline void cachetest_end(void)
{
    char command[128];

    snprintf(command, sizeof(command), "rm -rf '%s'", dir);
    ok(system(command) == 0, "cleaned up");
}

#endif
