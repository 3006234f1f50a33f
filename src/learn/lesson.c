#include "learn/lesson.h"

#include "http_config.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "child/child.h"
#include "handoff/door.h"
#include "learn/peer_share.h"

extern module AP_MODULE_DECLARE_DATA cpuaffinity_module;

lesson_note *lesson_note_make(const request *req, const char *head,
                              const unsigned char *key, size_t key_len,
                              uint64_t vary, int keepalives, int first,
                              lesson_ask ask, int64_t now)
{
    lesson_note *n = malloc(sizeof(*n) + key_len + req->consumed);

    if (!n) {
        return NULL;
    }
    n->req = *req;
    n->vary = vary;
    n->made = now;
    n->keepalives = keepalives;
    n->first = first != 0;
    n->ask = (uint8_t)ask;
    n->key_len = (uint16_t)key_len;
    memcpy(n->bytes, key, key_len);
    memcpy(n->bytes + key_len, head, req->consumed);
    return n;
}

/* What a connection has of ours: its conn_config. */
typedef struct lesson_slot {
    lesson_note *note;         /* attached; owned */
    int fresh;                 /* it was not taken yet */
    int asked;                 /* the door's note was taken */
    int seen;                  /* the next request, in the socket */
    const lesson_note *taught; /* of the last request, if it was learned */
    const server_rec *host;    /* of the last request; NULL: none yet */
} lesson_slot;

static apr_status_t drop_slot(void *data)
{
    lesson_slot *slot = data;

    free(slot->note);
    slot->note = NULL;
    return APR_SUCCESS;
}

static lesson_slot *slot_of(conn_rec *c)
{
    lesson_slot *slot =
        ap_get_module_config(c->conn_config, &cpuaffinity_module);

    if (!slot) {
        slot = apr_pcalloc(c->pool, sizeof(*slot));
        apr_pool_cleanup_register(c->pool, slot, drop_slot,
                                  apr_pool_cleanup_null);
        ap_set_module_config(c->conn_config, &cpuaffinity_module, slot);
    }
    return slot;
}

void lesson_attach(conn_rec *c, lesson_note *note)
{
    lesson_slot *slot = slot_of(c);

    free(slot->note);
    slot->note = note;
    slot->taught = NULL;
    slot->fresh = 1;
    slot->asked = 1;
}

const lesson_note *lesson_take(conn_rec *c)
{
    lesson_slot *slot =
        ap_get_module_config(c->conn_config, &cpuaffinity_module);

    if (slot && slot->fresh) {
        slot->fresh = 0;
        return slot->note;
    }
    /* The first request after the door, and none that follows it. */
    if (slot && slot->asked) {
        return NULL;
    }
    slot_of(c)->asked = 1;
    return door_note(c);
}

int lesson_waits(conn_rec *c)
{
    lesson_slot *slot =
        ap_get_module_config(c->conn_config, &cpuaffinity_module);

    return slot && slot->asked ? slot->fresh : door_note(c) != NULL;
}

void lesson_see(conn_rec *c)
{
    slot_of(c)->seen = 1;
}

int lesson_seen(conn_rec *c)
{
    lesson_slot *slot =
        ap_get_module_config(c->conn_config, &cpuaffinity_module);
    int seen = slot && slot->seen;

    if (seen) {
        slot->seen = 0;
    }
    return seen;
}

void lesson_taught(conn_rec *c, const lesson_note *note)
{
    slot_of(c)->taught = note;
}

const lesson_note *lesson_last(conn_rec *c)
{
    lesson_slot *slot = slot_of(c);
    const lesson_note *note = slot->taught;

    slot->taught = NULL;
    return note;
}

void lesson_set_host(conn_rec *c, const server_rec *s)
{
    slot_of(c)->host = s;
}

const server_rec *lesson_host(conn_rec *c)
{
    return slot_of(c)->host;
}

lesson *lesson_make(const lesson_note *note, lesson_kind kind,
                    const response *a, const char *path)
{
    size_t head_len = a ? a->head_len : 0;
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
    free(l);
}

/* Posts are short and rare next to requests: a mutex will do. */
static struct {
    pthread_mutex_t lock;
    lesson *first;
    lesson *last;
    unsigned count;
    int closed;
} box = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int put(lesson *l)
{
    int ok;

    pthread_mutex_lock(&box.lock);
    ok = !box.closed && box.count < LESSON_ROOM;
    if (ok) {
        l->next = NULL;
        if (box.last) {
            box.last->next = l;
        }
        else {
            box.first = l;
        }
        box.last = l;
        /* The loop looks at the count without the lock. */
        __atomic_store_n(&box.count, box.count + 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&box.lock);
    return ok;
}

void lesson_post(lesson *l)
{
    loop *to = child_loop();

    peer_share_post(l);
    if (to && put(l)) {
        loop_wake(to);
    }
    else {
        lesson_free(l);
    }
}

lesson *lesson_next(void)
{
    lesson *l;

    if (!__atomic_load_n(&box.count, __ATOMIC_ACQUIRE)) {
        return NULL;
    }
    pthread_mutex_lock(&box.lock);
    l = box.first;
    if (l) {
        box.first = l->next;
        if (!box.first) {
            box.last = NULL;
        }
        __atomic_store_n(&box.count, box.count - 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&box.lock);
    return l;
}

void lesson_close(void)
{
    lesson *l;

    pthread_mutex_lock(&box.lock);
    box.closed = 1;
    pthread_mutex_unlock(&box.lock);
    while ((l = lesson_next())) {
        lesson_free(l);
    }
}
