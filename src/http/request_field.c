/* SPDX-License-Identifier: Apache-2.0 */
#include "http/request_field.h"

#include <string.h>

/* Reasons that several fields share. */
#define NEGOTIATED "only negotiation and error documents: no learned file"
#define VARIABLE "expressions, logs and SetEnvIf; they refuse or match"
#define DECLARED "the configuration reads it"

#define FIELD_ROW(id, name, why) {name, why},
static const struct {
    const char *name;
    const char *why;
} fixed[] = {REQUEST_FIELD_LIST(FIELD_ROW)};

#define REFUSED_ROW(name, why) name,
static const char *const refused[] = {REQUEST_FIELD_REFUSED_LIST(REFUSED_ROW)};

/* A special name. Bytes of names are kept with 0x20 set: among tokens that
 * makes letters lower case, and confuses '^' with '~' only. */
typedef struct row {
    const char *name;
    uint16_t len;
    signed char id;     /* or REQUEST_FIELD_REFUSED */
    unsigned char next; /* in its slot; 0: none */
} row;

#define ROWS 256
static row rows[ROWS]; /* the first is not used */
static unsigned row_count;
static char text[8192]; /* the names */
static size_t text_len;

unsigned char requestfield_slots[256];
int requestfield_other;
uint64_t requestfield_once;

static const char *names[REQUEST_ID_LIMIT]; /* by id */
static unsigned ids;

int request_field_is_token(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')
           || (c && strchr("!#$%&'*+-.^_`|~", c));
}

static int is_name(const char *name, size_t len)
{
    size_t i = 0;

    while (i < len && request_field_is_token(name[i])) {
        i++;
    }
    return len && i == len;
}

static int is_same(const row *r, const char *name, size_t len)
{
    const uint64_t lower = 0x2020202020202020;
    uint64_t x, y;
    size_t i = 0;

    if (r->len != len) {
        return 0;
    }
    for (; i + 8 <= len; i += 8) {
        memcpy(&x, name + i, 8);
        memcpy(&y, r->name + i, 8);
        if ((x | lower) != y) {
            return 0;
        }
    }
    for (; i < len; i++) {
        if ((name[i] | 0x20) != r->name[i]) {
            return 0;
        }
    }
    return 1;
}

static row *find_row(unsigned slot, const char *name, size_t len)
{
    for (; slot; slot = rows[slot].next) {
        if (is_same(&rows[slot], name, len)) {
            return &rows[slot];
        }
    }
    return NULL;
}

int request_field_in(unsigned slot, const char *name, size_t len)
{
    const row *r = find_row(slot, name, len);

    return r ? r->id : requestfield_other;
}

int request_field(const char *name, size_t len)
{
    /* no other name passes the recogniser */
    return is_name(name, len) ? request_field_find(name, len)
                              : REQUEST_FIELD_REFUSED;
}

/* The row of a name that is a token; NULL: it cannot be told. */
static row *row_of(const char *name, size_t len)
{
    unsigned char *slot = &requestfield_slots[request_field_at(name, len)];
    row *r = find_row(*slot, name, len);
    char *lower;
    size_t i;

    if (r) {
        return r;
    }
    if (row_count == ROWS || len >= sizeof(text) - text_len) {
        return NULL;
    }
    lower = text + text_len;
    for (i = 0; i < len; i++) {
        lower[i] = (char)(name[i] | 0x20);
    }
    lower[len] = '\0';
    text_len += len + 1;
    r = &rows[row_count];
    r->name = lower;
    r->len = (uint16_t)len;
    r->id = REQUEST_FIELD_INERT;
    r->next = *slot;
    *slot = (unsigned char)row_count++;
    return r;
}

void request_field_refuse(const char *name, size_t len)
{
    row *r;

    if (!is_name(name, len)) {
        return;
    }
    r = row_of(name, len);
    if (r) {
        r->id = REQUEST_FIELD_REFUSED;
    }
    else {
        requestfield_other = REQUEST_FIELD_REFUSED;
    }
}

int request_field_read(const char *name, size_t len)
{
    row *r;

    if (!is_name(name, len)) {
        return REQUEST_FIELD_REFUSED;
    }
    r = row_of(name, len);
    if (r && r->id == REQUEST_FIELD_INERT && ids < REQUEST_ID_LIMIT
        && !memchr(name, '^', len) && !memchr(name, '~', len)) {
        names[ids] = r->name;
        r->id = (signed char)ids++;
    }
    if (!r || r->id == REQUEST_FIELD_INERT) {
        request_field_refuse(name, len);
        return REQUEST_FIELD_REFUSED;
    }
    if (r->id >= 0) {
        requestfield_once |= (uint64_t)1 << r->id;
    }
    return r->id;
}

void request_field_reset(void)
{
    size_t i;

    memset(requestfield_slots, 0, sizeof(requestfield_slots));
    requestfield_other = REQUEST_FIELD_INERT;
    row_count = 1;
    text_len = 0;
    ids = 0;
    for (i = 0; i < REQUEST_IDS; i++) {
        request_field_read(fixed[i].name, strlen(fixed[i].name));
    }
    requestfield_once = ((uint64_t)1 << REQUEST_IDS_JUDGED) - 1;
    for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        request_field_refuse(refused[i], strlen(refused[i]));
    }
}

/* The lists hold before anything is configured. */
static void __attribute__((constructor)) start(void)
{
    request_field_reset();
}

unsigned request_field_ids(void)
{
    return ids;
}

const char *request_field_name(unsigned id)
{
    return id < ids ? names[id] : NULL;
}

const char *request_field_why(unsigned id)
{
    if (id >= ids) {
        return NULL;
    }
    return id < REQUEST_IDS ? fixed[id].why : DECLARED;
}
