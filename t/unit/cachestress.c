/* SPDX-License-Identifier: Apache-2.0 */
/* cachestress: any sequence of calls, against what is known of the files: what
 * is repeated is what is on the disk, what is held stays, bounds hold. */
#include "cachetest.h"

#define FILES 24
#define KEYS 200
#define HELD 16
#define STEPS 60000

typedef struct held {
    cache_entry *entry;
    char byte; /* the content: one letter, repeated */
} held;

static char content[FILES]; /* its letter, or 0: there is none */
static int length[FILES];
static held keep[HELD];
static unsigned long wrong, served, missing;

static unsigned rnd(unsigned n)
{
    static uint64_t state = 88172645463325252u;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 33) % n;
}

static const char *file_name(unsigned i)
{
    static char buf[16];

    snprintf(buf, sizeof(buf), "s%u", i);
    return buf;
}

/* In place or by renaming; or the file goes. */
static void change(unsigned i)
{
    char text[64] = "";

    if (rnd(4) == 0) {
        unlink(path(file_name(i)));
        content[i] = 0;
        return;
    }
    content[i] = (char)('a' + rnd(26));
    length[i] = 1 + (int)rnd(20); /* some in memory, some open */
    memset(text, content[i], (size_t)length[i]);
    if (rnd(2)) {
        write_file(file_name(i), text);
    }
    else {
        write_file("new", text);
        rename(path("new"), path(file_name(i)));
    }
}

/* The bytes of an entry are all this letter. */
static int consists(const cache_entry *e, char byte)
{
    char buf[64];
    const char *data = e->file->data;
    int64_t i;

    if (!data) {
        if (pread(e->file->fd, buf, sizeof(buf), 0) != e->file->size) {
            return 0;
        }
        data = buf;
    }
    for (i = 0; i < e->file->size; i++) {
        if (data[i] != byte) {
            return 0;
        }
    }
    return 1;
}

static void step_use(cache *c, const char *key, unsigned file, int64_t now)
{
    cache_entry *e = find(c, key);
    unsigned slot = rnd(HELD);

    if (!e || !cache_may_use(c, e, now)) {
        missing++;
        return;
    }
    served++;
    wrong += !content[file] || e->file->size != length[file]
             || !consists(e, content[file]);
    if (!keep[slot].entry && rnd(3) == 0) {
        cache_hold(e);
        keep[slot] = (held){e, content[file]};
    }
}

static void step_release(cache *c)
{
    held *h = &keep[rnd(HELD)];

    if (!h->entry) {
        return;
    }
    /* a file edited in place changes under an open descriptor */
    wrong += h->entry->file->data && !consists(h->entry, h->byte);
    cache_release(c, h->entry);
    h->entry = NULL;
}

static void step(cache *c, int64_t now)
{
    unsigned k = rnd(rnd(2) ? KEYS : KEYS / 10), file = k % FILES;
    char key[16];

    snprintf(key, sizeof(key), "key%u", k);
    switch (rnd(16)) {
    case 0:
        change(file);
        break;
    case 1:
    case 2:
    case 3:
        step_release(c);
        break;
    case 4:
        if (rnd(200) == 0) {
            cache_clear(c);
        }
        else if (rnd(20) == 0) {
            cache_shed(c, 1);
        }
        else if (rnd(20) == 0 && find(c, key)) {
            cache_forget(c, find(c, key));
        }
        break;
    case 5:
    case 6:
    case 7:
    case 8:
        learn(c, key, file_name(file), rnd(8) ? "" : "X: y\r\n", now);
        break;
    default:
        step_use(c, key, file, now);
        break;
    }
}

int main(void)
{
    /* VALID is 0: every use looks */
    cache_config k = {60, 0, 10, 60, 4, {3, 4}, 0};
    cache *c = cache_make(&k);
    unsigned long over = 0;
    cache_stats s;
    int i;

    if (!c || cachetest_start()) {
        return 1;
    }
    for (i = 0; i < STEPS; i++) {
        step(c, i);
        if (i % 16 == 0) {
            s = stats(c);
            over += s.entries > 60;
            over += s.memory > 60;
            over += s.descriptors > 4;
        }
    }
    is_int((long)wrong, 0, "what is repeated is on the disk");
    is_int((long)over, 0, "bounds hold");
    ok(served > STEPS / 20 && missing > STEPS / 20, "%lu served, %lu not",
       served, missing);
    for (i = 0; i < 50 * HELD; i++) {
        step_release(c);
    }
    cache_clear(c);
    s = stats(c);
    ok(s.entries == 0 && s.files == 0 && s.memory == 0 && s.descriptors == 0,
       "nothing is left");
    cache_free(c);
    cachetest_end();
    return done();
}
