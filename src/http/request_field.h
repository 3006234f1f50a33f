/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_field: what each header field of a request means to the loop, told
 * by its name. A field that neither httpd's core nor a known module nor the
 * configuration reads is inert, whatever its name: httpd's answer cannot
 * depend on it (docs/security.md, Fields). The others are special:
 * they have an id, by which the loop looks at their value, or a request that
 * has one is not mine. What core and the known modules read stands in the two
 * lists here; what the configuration reads is declared when it is read.
 */
#ifndef CPUAFFINITY_REQUEST_FIELD_H
#define CPUAFFINITY_REQUEST_FIELD_H

#include <stddef.h>
#include <stdint.h>

/* Fields with an id of their own: id, name, why a request may have it. */
/* clang-format off */
#define REQUEST_FIELD_LIST(X)                                                 \
    /* looked at by the loop itself */                                        \
    X(HOST, "host", "in the key")                                             \
    X(CONNECTION, "connection", "reproduced")                                 \
    X(RANGE, "range", "reproduced")                                           \
    X(IF_RANGE, "if-range", "reproduced")                                     \
    X(IF_NONE_MATCH, "if-none-match", "reproduced")                           \
    X(IF_MODIFIED_SINCE, "if-modified-since", "reproduced")                   \
    X(IF_UNMODIFIED_SINCE, "if-unmodified-since", "no effect, or httpd's")    \
    X(ACCEPT_ENCODING, "accept-encoding", "in the key")                       \
    /* the rest */                                                            \
    X(ACCEPT, "accept", NEGOTIATED)                                           \
    X(ACCEPT_CHARSET, "accept-charset", NEGOTIATED)                           \
    X(ACCEPT_LANGUAGE, "accept-language", NEGOTIATED)                         \
    X(VIA, "via", "matters with nokeepalive only, which a match refuses")     \
    X(COOKIE, "cookie", "mod_usertrack only, refused if configured")          \
    X(FORWARDED, "forwarded", VARIABLE)                                       \
    X(PROXY_CONNECTION, "proxy-connection", VARIABLE)                         \
    X(REFERER, "referer", VARIABLE)                                           \
    X(USER_AGENT, "user-agent", VARIABLE)

/* Fields that make a request httpd's: name, why. */
#define REQUEST_FIELD_REFUSED_LIST(X)                                         \
    X("authorization", "who the client is is asked each time")                \
    X("content-length", BODY)                                                 \
    X("expect", "httpd answers 100 or 417")                                   \
    X("http2-settings", UPGRADE)                                              \
    X("if-match", "httpd may answer 412")                                     \
    X("negotiate", "read by mod_negotiation")                                 \
    X("proxy-authorization", "who the client is is asked each time")          \
    X("request-range", "an old name of Range")                                \
    X("trailer", BODY)                                                        \
    X("transfer-encoding", BODY)                                              \
    X("upgrade", UPGRADE)
/* clang-format on */

#define REQUEST_FIELD_ID(id, name, why) REQUEST_##id,
enum request_id {
    REQUEST_FIELD_LIST(REQUEST_FIELD_ID) REQUEST_IDS
};

/* So many of them, from the first on, the loop itself looks at. */
#define REQUEST_IDS_JUDGED (REQUEST_ACCEPT_ENCODING + 1)

/* Ids are the bits of one word: those above and the declared ones. */
#define REQUEST_ID_LIMIT 64

/* A request with more fields is not mine. */
#define REQUEST_FIELDS 100

/* What request_field() says besides an id. */
#define REQUEST_FIELD_INERT (-1)   /* nothing reads it */
#define REQUEST_FIELD_REFUSED (-2) /* a request with it is not mine */

/* --- Configuration time: main thread, before there are other threads --- */

/* Forgets what was declared. */
void request_field_reset(void);

/*
 * The configuration reads the field @a name (any case): from now on it has an
 * id, and a request where it comes twice is not mine. What its value means is
 * for the caller to judge: look at it by the id, or request_field_refuse() it.
 * @return the id; or REQUEST_FIELD_REFUSED: no request that is mine has the
 *         field, as it is httpd's anyway, there is no room for another id,
 *         or it is no name that a request of the loop can have
 */
int request_field_read(const char *name, size_t len);

/* From now on a request that has the field @a name (any case) is not mine. If
 * it cannot be remembered, all fields without an id are refused. */
void request_field_refuse(const char *name, size_t len);

/* --- Any thread --- */

/*
 * The id of the field @a name (any case), REQUEST_FIELD_INERT or
 * REQUEST_FIELD_REFUSED.
 */
int request_field(const char *name, size_t len);

/* May the byte be part of a field's name? */
int request_field_is_token(char c);

/* How many ids there are: all are smaller. */
unsigned request_field_ids(void);

/* The name of a field in lower case, NULL when there is no such id. */
const char *request_field_name(unsigned id);

/* Why a request may have this field; NULL when there is no such id. For the
 * documentation and the status. */
const char *request_field_why(unsigned id);

/* --- For the recogniser --- */

/* By request_field_at(): where to look for a name; 0: no special one. */
extern unsigned char requestfield_slots[256];
extern int requestfield_other; /* what a name is that is not special */
/* Bits of the ids that may not come twice. The values of the others belong to
 * nothing but perhaps, by a Vary that was learned, to the key. */
extern uint64_t requestfield_once;

/* The slot of a name that is not empty, the same in any case. */
static inline unsigned request_field_at(const char *name, size_t len)
{
    unsigned first = (unsigned char)name[0] | 0x20;
    unsigned last = (unsigned char)name[len - 1] | 0x20;

    return (unsigned)(len * 3 + first * 7 + last * 29) & 255;
}

/* request_field() for what is in the slot. */
int request_field_in(unsigned slot, const char *name, size_t len);

/* request_field() for a name that is a token and not empty. */
static inline int request_field_find(const char *name, size_t len)
{
    unsigned slot = requestfield_slots[request_field_at(name, len)];

    return slot ? request_field_in(slot, name, len) : requestfield_other;
}

#endif
