/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cost: why httpd's threads and not the loop answered a request. Each such
 * request is counted once: by the obstacle that it met, where that is known,
 * else by its server and one of these causes. Static text; any thread.
 */
#ifndef CPUAFFINITY_COST_H
#define CPUAFFINITY_COST_H

#include "http/request_why.h"
#include "learn/reason.h"

/* Causes that are neither a rule's reason nor a request's: id, kind, the name
 * in the status, what it means, what would change it. */
/* clang-format off */
#define COST_LIST(X)                                                          \
    X(NEW, LEARN, "new", "a file's first requests, from which it is learned", \
      "nothing: those that follow are repeated")                              \
    X(RENEWED, LEARN, "renewed", "a file that was asked for anew or compared",\
      "nothing: about once a minute for each file")                           \
    X(UNSEEN, UNSEEN, "unseen", "the loop did not read it: an address that "  \
      "it leaves to httpd, or a connection that stayed there",                \
      "one address for virtual hosts without TLS and PROXY protocol")         \
    X(TLS, UNSEEN, "tls", "TLS",                                              \
      "a proxy in front that ends TLS: only plain HTTP/1 is repeated")        \
    X(HTTP2, UNSEEN, "http2", "HTTP/2",                                       \
      "a proxy in front that speaks HTTP/1 to httpd")
/* clang-format on */

#define COST_ID(id, kind, name, text, advice) COST_##id,
typedef enum cost_cause {
    COST_REASONS = REASON_COUNT,             /* before it: the reason_id */
    COST_WHYS = COST_REASONS + REQUEST_WHYS, /* before it: COST_OF_WHY */
    COST_BEFORE = COST_WHYS - 1,
    COST_LIST(COST_ID) COSTS
} cost_cause;

#define COST_OF_WHY(why) ((unsigned)COST_REASONS + (unsigned)(why))

typedef struct cost_text {
    const char *kind;   /* "rule", "request", "learn", "unseen", "off" */
    const char *name;   /* "R4", "field", "new" */
    const char *text;   /* what it means */
    const char *advice; /* what would change it */
} cost_text;

/* @param cause below COSTS */
cost_text cost_describe(unsigned cause);

#endif
