/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/conn_note.h"

#include "http_config.h"

#include <stdlib.h>
#include <string.h>

#include "handoff/door.h"

extern module AP_MODULE_DECLARE_DATA cpuaffinity_module;

conn_note *conn_note_make(const request *req, const char *head,
                          const unsigned char *key, size_t key_len,
                          uint64_t vary, int keepalives, int first,
                          conn_note_ask ask, int64_t now)
{
    conn_note *n = malloc(sizeof(*n) + key_len + req->consumed);

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

/* What we keep for a connection, in its conn_config. */
typedef struct note_slot {
    conn_note *note;         /* attached; owned */
    int fresh;               /* it was not taken yet */
    int asked;               /* the door's note was taken */
    int next_why;            /* of the next request: request_why + 1; 0: none */
    int why;                 /* the same of the last that was created */
    const conn_note *taught; /* of the last request, if it was learned */
    const server_rec *host;  /* of the last request; NULL: none yet */
} note_slot;

static apr_status_t drop_slot(void *data)
{
    note_slot *slot = data;

    free(slot->note);
    slot->note = NULL;
    return APR_SUCCESS;
}

static note_slot *slot_of(conn_rec *c)
{
    note_slot *slot = ap_get_module_config(c->conn_config, &cpuaffinity_module);

    if (!slot) {
        slot = apr_pcalloc(c->pool, sizeof(*slot));
        apr_pool_cleanup_register(c->pool, slot, drop_slot,
                                  apr_pool_cleanup_null);
        ap_set_module_config(c->conn_config, &cpuaffinity_module, slot);
    }
    return slot;
}

void conn_note_attach(conn_rec *c, conn_note *note)
{
    note_slot *slot = slot_of(c);

    free(slot->note);
    slot->note = note;
    slot->taught = NULL;
    slot->fresh = 1;
    slot->asked = 1;
}

#define NOT_MINE(id, name, text)                                               \
    {.ask = CONN_NOTE_WHY, .why = REQUEST_WHY_##id},

const conn_note *conn_note_not_mine(request_why why)
{
    static const conn_note notes[] = {REQUEST_WHY_LIST(NOT_MINE)};

    return &notes[why];
}

void conn_note_set_why(conn_rec *c, request_why why)
{
    note_slot *slot = slot_of(c);

    slot->fresh = 0;
    slot->asked = 1;
    slot->next_why = (int)why + 1;
}

int conn_note_why(conn_rec *c)
{
    note_slot *slot =
        c->master ? NULL
                  : ap_get_module_config(c->conn_config, &cpuaffinity_module);
    int why = slot ? slot->why : 0;

    if (slot) {
        slot->why = 0;
    }
    return why - 1;
}

/* The door's note, if it is about a request that is mine. */
static const conn_note *from_door(const conn_rec *c, int *why)
{
    const conn_note *n = door_note(c);

    *why = n && n->ask == CONN_NOTE_WHY ? n->why + 1 : 0;
    return *why ? NULL : n;
}

const conn_note *conn_note_take(conn_rec *c)
{
    note_slot *slot = ap_get_module_config(c->conn_config, &cpuaffinity_module);

    if (slot) {
        slot->why = slot->next_why;
        slot->next_why = 0;
    }
    if (slot && slot->fresh) {
        slot->fresh = 0;
        return slot->note;
    }
    /* The first request after the door, and none that follows it. */
    if (slot && slot->asked) {
        return NULL;
    }
    slot = slot_of(c);
    slot->asked = 1;
    return from_door(c, &slot->why);
}

int conn_note_is_waiting(conn_rec *c)
{
    note_slot *slot = ap_get_module_config(c->conn_config, &cpuaffinity_module);

    int why;

    return slot && slot->asked ? slot->fresh : from_door(c, &why) != NULL;
}

const conn_note *conn_note_next(conn_rec *c)
{
    note_slot *slot = ap_get_module_config(c->conn_config, &cpuaffinity_module);

    if (slot && slot->asked) {
        return slot->fresh      ? slot->note
               : slot->next_why ? conn_note_not_mine(slot->next_why - 1)
                                : NULL;
    }
    return door_note(c);
}

void conn_note_renew(conn_rec *c)
{
    note_slot *slot = slot_of(c);

    slot->fresh = 0;
    slot->asked = 0;
    slot->next_why = 0;
    slot->taught = NULL;
}

void conn_note_taught(conn_rec *c, const conn_note *note)
{
    slot_of(c)->taught = note;
}

const conn_note *conn_note_last(conn_rec *c)
{
    note_slot *slot = slot_of(c);
    const conn_note *note = slot->taught;

    slot->taught = NULL;
    return note;
}

void conn_note_set_host(conn_rec *c, const server_rec *s)
{
    slot_of(c)->host = s;
}

const server_rec *conn_note_host(conn_rec *c)
{
    return slot_of(c)->host;
}
