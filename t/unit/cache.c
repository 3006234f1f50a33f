/* SPDX-License-Identifier: Apache-2.0 */
/* cache: when answers live and die, and what is shared. */
#include "cachetest.h"

#include <sys/mman.h>

static void twice(void)
{
    cache *c = make();
    cache_entry *e;

    write_file("a", "hello");
    ok(!find(c, "k"), "unknown at first");
    is_int(learn(c, "k", "a", "", 0), CACHE_ONCE, "once");
    ok(!use(c, "k", 0), "not repeated after one answer (R8)");
    is_int(learn(c, "k", "a", "X: 1\r\n", 0), CACHE_CHANGED, "another head");
    ok(!use(c, "k", 0), "is the first again");
    is_int(learn(c, "k", "a", "X: 1\r\n", 0), CACHE_LIVE, "twice");
    ok(use(c, "k", 0), "now it is repeated");
    e = find(c, "k");
    ok(e->file->data && e->file->size == 5
           && !memcmp(e->file->data, "hello", 5),
       "the file's bytes");
    ok(strstr(e->answer.head, "X: 1\r\n") != NULL, "the answer's head");
    is_str(e->path, path("a"), "the path");
    is_int((long)e->hits, 1, "one hit");
    write_file("a", "HELLO");
    ok(use(c, "k", 0), "its file is trusted for a while");
    cache_distrust(find(c, "k"));
    ok(!use(c, "k", 0), "but not when it is asked for at once");
    learn(c, "k", "a", "X: 1\r\n", 0);
    learn(c, "k", "a", "X: 1\r\n", 0);
    is_int(learn(c, "k", "a", "X: 2\r\n", 0), CACHE_CHANGED, "changed");
    ok(!use(c, "k", 0), "and not live any more");
    cache_free(c);
}

/* docs/pitfalls.md 22: what moves with the clock agrees within a second. */
static void clocked(void)
{
    cache *c = make();

    write_file("a", "hello");
    flags = RESPONSE_CLOCKED;
    is_int(learn(c, "k", "a", "", 0), CACHE_ONCE, "once");
    is_int(learn(c, "k", "a", "", 1), CACHE_ONCE, "again in its second");
    ok(!use(c, "k", 1), "proves nothing");
    date = "Sun, 06 Nov 1994 08:49:38 GMT";
    is_int(learn(c, "k", "a", "", 1000), CACHE_ONCE, "nor in the next");
    date = "Sun, 06 Nov 1994 08:49:39 GMT";
    is_int(learn(c, "k", "a", "", 2000), CACHE_LIVE,
           "two seconds later it does");
    date = "Sun, 06 Nov 1994 08:49:37 GMT";
    flags = 0;
    cache_free(c);
}

/* 5.3: from a descriptor, no bytes of an edit under the old head. */
static void edited_open(void)
{
    cache *c = make();

    write_file("large", "0123456789abc");
    live(c, "k", "large", 0);
    ok(use(c, "k", 0) && find(c, "k")->file->fd >= 0, "sent from the file");
    write_file("large", "0123456789ABC");
    ok(!use(c, "k", 1), "edited in place: seen at once");
    is_int((long)stats(c).stale, 1, "counted");
    live(c, "k", "large", 1);
    unlink(path("large"));
    ok(!use(c, "k", 2), "unlinked: seen at once too");
    cache_free(c);
}

static void refused(void)
{
    cache *c = make();
    struct stat st;
    char key[REQUEST_KEY + 2] = "";

    memset(key, 'k', sizeof(key) - 1);
    write_file("a", "hello");
    stat(path("a"), &st);
    is_int(
        cache_learn(c, key_of("k"), answer_of(4, ""), path("a"), &st, 0, NULL),
        CACHE_REFUSED, "the size differs");
    is_int(cache_learn(c, key_of("k"), answer_of(5, ""), "a", &st, 0, NULL),
           CACHE_REFUSED, "a relative path");
    is_int(
        cache_learn(c, key_of(key), answer_of(5, ""), path("a"), &st, 0, NULL),
        CACHE_REFUSED, "a long key");
    is_int(learn(c, "k", ".", "", 0), CACHE_REFUSED, "a directory");
    learn(c, "k", "a", "", 0);
    write_file("a2", "hello");
    rename(path("a2"), path("a"));
    is_int(
        cache_learn(c, key_of("k"), answer_of(5, ""), path("a"), &st, 0, NULL),
        CACHE_REFUSED, "the path is another file by now");
    ok(!use(c, "k", 0), "not live");
    cache_free(c);
}

/* Learned at the same time, they are not renewed at the same time. */
static void renewed(void)
{
    cache *c = make();
    int i, asked = 0;
    int64_t soon = CACHE_AGE - CACHE_SOONER, mid = soon + CACHE_SOONER / 4;
    char key[2] = "a";

    write_file("a", "hello");
    for (i = 0; i < 16; i++) {
        key[0] = (char)('a' + i);
        live(c, key, "a", 0);
        asked += cache_is_due(find(c, key), soon - 1);
    }
    is_int(asked, 0, "none too early");
    for (i = 0; i < 16; i++) {
        key[0] = (char)('a' + i);
        asked += cache_is_due(find(c, key), mid);
    }
    ok(asked > 0 && asked < 16, "some are due before others");
    soon = CACHE_AGE - 1;
    ok(use(c, "a", soon) && cache_is_due(find(c, "a"), soon), "due at the end");
    ok(!cache_is_due(find(c, "a"), soon), "asked for once");
    ok(use(c, "a", soon), "and repeated meanwhile");
    is_int(learn(c, "a", "a", "", soon), CACHE_LIVE, "httpd agrees");
    ok(use(c, "a", soon + 2000) && !cache_is_due(find(c, "a"), soon + 2000),
       "young again");
    cache_free(c);
}

static void expires(void)
{
    cache *c = make();

    write_file("a", "hello");
    live(c, "k", "a", 1000);
    ok(use(c, "k", 60999), "just under 60 s");
    ok(!use(c, "k", 61000), "never older than 60 s");
    ok(!use(c, "k", 61001), "not before httpd answered again");
    is_int(learn(c, "k", "a", "", 61002), CACHE_LIVE, "one agreeing answer");
    ok(use(c, "k", 61002), "is enough then");
    is_int((long)stats(c).expired, 1, "counted");
    cache_free(c);
}

/* A file whose bytes can be changed so that its times do not show it. */
static char *map_file(const char *name, size_t size)
{
    int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    char *map = MAP_FAILED;

    if (fd >= 0 && !ftruncate(fd, (off_t)size)) {
        map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    close(fd);
    return map == MAP_FAILED ? NULL : map;
}

static cache_outcome learn_at(cache *c, const char *key, const char *name,
                              int64_t now)
{
    struct stat st;

    stat(name, &st);
    return cache_learn(c, key_of(key), answer_of(st.st_size, ""), name, &st,
                       now, NULL);
}

/* No bytes older than the last answer of httpd, in memory and from a file. */
static void mapped(const char *name, size_t size)
{
    cache *c = make();
    char *map = map_file(name, size);
    struct stat before, after;
    cache_entry *e;

    if (!map) {
        printf("ok %d # SKIP no file to map in /dev/shm\n", ++tap_run);
        return;
    }
    memset(map, 'a', size);
    stat(name, &before);
    learn_at(c, "k", name, 0);
    learn_at(c, "l", name, 0);
    is_int(learn_at(c, "k", name, 0), CACHE_LIVE, "learned");
    is_int(learn_at(c, "l", name, 0), CACHE_LIVE, "by two keys");
    memset(map, 'b', size);
    stat(name, &after);
    ok(!memcmp(&before.st_mtim, &after.st_mtim, sizeof(before.st_mtim))
           && !memcmp(&before.st_ctim, &after.st_ctim, sizeof(before.st_ctim)),
       "no time tells of the change");
    ok(use(c, "k", 50000) && use(c, "l", 50000), "both are repeated");
    if (!find(c, "k")->file->data) {
        is_int(learn_at(c, "k", name, 50000), CACHE_LIVE,
               "what is sent from the file is the file's");
        munmap(map, size);
        cache_free(c);
        return;
    }
    e = find(c, "k");
    cache_hold(e);
    is_int(learn_at(c, "k", name, 50000), CACHE_CHANGED,
           "httpd's answer renews no bytes that are not the file's");
    ok(!use(c, "k", 50001) && !use(c, "l", 50001), "neither key goes on");
    ok(e->file->data[0] == 'a', "but what is being sent");
    cache_release(c, e);
    is_int(learn_at(c, "k", name, 50002), CACHE_LIVE, "the next one does");
    ok(use(c, "k", 50002) && find(c, "k")->file->data[0] == 'b', "as it is");
    memset(map, 'c', size);
    ok(!use(c, "k", 120000), "expired");
    is_int(learn_at(c, "k", name, 120000), CACHE_CHANGED,
           "nor does an answer revive such bytes");
    is_int((long)stats(c).memory, 0, "nothing is left of them");
    munmap(map, size);
    cache_free(c);
}

static void mappings(void)
{
    char name[64];

    snprintf(name, sizeof(name), "/dev/shm/cpuaff-cache-%d", (int)getpid());
    mapped(name, 8);
    mapped(name, 20000);
    unlink(name);
}

/* Each way in which a path may stop to be that file. */
static void edit(void)
{
    write_file("v/a", "HELLO");
}
static void edit_keep_mtime(void)
{
    struct stat st;
    struct timespec t[2];

    stat(path("v/a"), &st);
    edit();
    t[0] = st.st_atim;
    t[1] = st.st_mtim;
    utimensat(AT_FDCWD, path("v/a"), t, 0);
}
static void replace(void)
{
    write_file("v/b", "HELLO");
    rename(path("v/b"), path("v/a"));
}
static void truncate_it(void)
{
    if (truncate(path("v/a"), 2)) {
        printf("# truncate: %s\n", strerror(errno));
    }
}
static void chmod_it(void)
{
    chmod(path("v/a"), 0600);
}
static void unlink_it(void)
{
    unlink(path("v/a"));
}
static void fifo(void)
{
    unlink_it();
    mkfifo(path("v/a"), 0644);
}
static void directory(void)
{
    unlink_it();
    mkdir(path("v/a"), 0755);
}
static void parent_link(void)
{
    mkdir(path("w"), 0755);
    write_file("w/a", "hello");
    rename(path("v"), path("old"));
    if (symlink("w", path("v"))) {
        printf("# symlink: %s\n", strerror(errno));
    }
}

static void clean(void)
{
    char command[256];

    snprintf(command, sizeof(command),
             "rm -rf '%s/v' '%s/w' '%s/old' && mkdir '%s/v'", dir, dir, dir,
             dir);
    if (system(command)) {
        printf("# %s failed\n", command);
    }
}

static void validates(void)
{
    static const struct {
        void (*change)(void);
        const char *name;
    } ways[] = {
        {edit, "5.3: edited in place"},
        {edit_keep_mtime, "5.5: edited, same size and mtime"},
        {replace, "5.4: replaced"},
        {truncate_it, "5.1: truncated"},
        {chmod_it, "chmod"},
        {unlink_it, "5.6: unlinked"},
        {fifo, "5.13: a FIFO"},
        {directory, "5.13: a directory"},
        {parent_link, "5.27: a link above swapped"},
    };
    size_t i;

    for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        cache *c = make();

        clean();
        write_file("v/a", "hello");
        live(c, "k", "v/a", 0);
        live(c, "l", "v/a", 0);
        ways[i].change();
        ok(use(c, "k", 999), "%s: trusted within VALID", ways[i].name);
        ok(!memcmp(find(c, "k")->file->data, "hello", 5),
           "%s: 5.7: its copy is whole", ways[i].name);
        ok(!use(c, "k", 1000) && !find(c, "k"), "%s: seen after it",
           ways[i].name);
        ok(!use(c, "l", 1000), "%s: under the other key too", ways[i].name);
        is_int(stats(c).files, 0, "and nothing is kept");
        cache_free(c);
    }
    clean();
}

static int live_keys(cache *c)
{
    char key[16];
    int i, n = 0;

    for (i = 0; i < CACHE_KEYS_PER_FILE; i++) {
        cache_entry *e;

        snprintf(key, sizeof(key), "k%d", i);
        e = find(c, key);
        n += e && e->live;
    }
    return n;
}

static void shares(void)
{
    cache *c = make();
    const cache_file *f;
    char key[16];
    int i;

    write_file("a", "hello");
    for (i = 0; i < CACHE_KEYS_PER_FILE; i++) {
        snprintf(key, sizeof(key), "k%d", i);
        live(c, key, "a", 0);
    }
    f = find(c, "k0")->file;
    ok(f && f == find(c, "k15")->file, "one file for all keys");
    is_int((long)stats(c).memory, 5, "in memory once");
    is_int(live_keys(c), 16, "16 keys are live");
    use(c, "k0", 1);
    is_int(live(c, "more", "a", 2), CACHE_LIVE, "the 17th");
    is_int(live_keys(c), 15, "takes the place");
    ok(use(c, "k0", 2) && !use(c, "k1", 2), "of the longest unused one");
    is_int(learn(c, "k1", "a", "", 3), CACHE_LIVE, "which may come back");
    link(path("a"), path("hard"));
    is_int(live(c, "h", "hard", 4), CACHE_LIVE, "a hard link");
    /* the link changed ctime: the old identity is gone */
    ok(find(c, "h")->file != f, "is the file as it is now");
    cache_free(c);
}

static void sizes(void)
{
    cache *c = make();
    cache_stats s;

    write_file("empty", "");
    write_file("small", "0123456789");
    write_file("large", "0123456789x");
    live(c, "e", "empty", 0);
    live(c, "s", "small", 0);
    live(c, "l", "large", 0);
    ok(find(c, "e")->file->data && find(c, "e")->file->size == 0, "empty");
    ok(find(c, "s")->file->data && find(c, "s")->file->fd < 0, "in memory");
    ok(!find(c, "l")->file->data && find(c, "l")->file->fd >= 0, "open");
    s = stats(c);
    ok(s.memory == 10 && s.descriptors == 1 && s.files == 3, "counted");
    write_file("huge", "");
    if (truncate(path("huge"), 3000000000)) {
        printf("# truncate: %s\n", strerror(errno));
    }
    is_int(live(c, "g", "huge", 0), CACHE_LIVE, "5.11: over 2 GiB");
    ok(find(c, "g")->file->size == 3000000000, "with its size");
    cache_free(c);
}

static void holds(void)
{
    cache *c = make();
    cache_entry *e;
    const cache_file *f;

    write_file("a", "hello");
    live(c, "k", "a", 0);
    e = find(c, "k");
    ok(cache_may_use(c, e, 0), "used");
    cache_hold(e);
    cache_hold(e);
    f = e->file;
    cache_clear(c);
    ok(!find(c, "k"), "pushed out");
    ok(e->file == f && !memcmp(f->data, "hello", 5), "what is sent stays");
    is_int(live(c, "k", "a", 0), CACHE_LIVE, "learned anew meanwhile");
    ok(find(c, "k") != e && find(c, "k")->file == f, "shares the file");
    cache_forget(c, e);
    cache_release(c, e);
    cache_release(c, e);
    ok(find(c, "k")->file == f && use(c, "k", 0), "which stays");
    cache_forget(c, find(c, "k"));
    is_int(stats(c).files, 0, "and then goes");

    live(c, "k", "a", 0);
    e = find(c, "k");
    cache_hold(e);
    write_file("a", "other");
    ok(!use(c, "k", 2000), "stale while it is sent");
    ok(!memcmp(e->file->data, "hello", 5), "the old bytes stay");
    is_int(live(c, "k", "a", 2000), CACHE_LIVE, "the new ones");
    ok(!memcmp(find(c, "k")->file->data, "other", 5), "are served");
    cache_release(c, e);
    is_int(stats(c).files, 1, "the old ones went at the end");
    cache_free(c);
}

int main(void)
{
    if (cachetest_start()) {
        return 1;
    }
    twice();
    clocked();
    edited_open();
    refused();
    expires();
    mappings();
    renewed();
    validates();
    shares();
    sizes();
    holds();
    cachetest_end();
    return done();
}
