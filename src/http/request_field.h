/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_field: the header fields that a request of the loop may have;
 * anything else is not mine. A field is in the list when the loop reproduces
 * what httpd does with it, or when neither httpd's core nor a known module (the
 * list in docs/security.md) reads it for a static file. (The loop's SetEnvIf
 * look-ups and log formats read it from the request like any other.) A name
 * that is missing costs speed, never correctness.
 */
#ifndef CPUAFFINITY_REQUEST_FIELD_H
#define CPUAFFINITY_REQUEST_FIELD_H

#include <stddef.h>
#include <stdint.h>

/* Sorted by length, then by name: id, name, why it is here. At most 64. */
/* clang-format off */
#define REQUEST_FIELD_LIST(X)                                                  \
    X(DNT, "dnt", CLIENT)                                                     \
    X(VIA, "via", "matters with nokeepalive only, which a match refuses")     \
    X(FROM, "from", CLIENT)                                                   \
    X(HOST, "host", "in the key")                                             \
    X(RANGE, "range", "reproduced")                                           \
    X(ACCEPT, "accept", NEGOTIATED)                                           \
    X(CF_RAY, "cf-ray", CDN)                                                  \
    X(COOKIE, "cookie", "mod_usertrack only, refused if configured")          \
    X(ORIGIN, "origin",                                                       \
      "expressions and SetEnvIf only; they refuse or match")                  \
    X(PRAGMA, "pragma", CACHING)                                              \
    X(PURPOSE, "purpose", CLIENT)                                             \
    X(REFERER, "referer", "logs and SetEnvIf")                                \
    X(SEC_GPC, "sec-gpc", CLIENT)                                             \
    X(ALT_USED, "alt-used", CLIENT)                                           \
    X(CDN_LOOP, "cdn-loop", CDN)                                              \
    X(IF_RANGE, "if-range", "reproduced")                                     \
    X(PRIORITY, "priority", "HTTP/2 and HTTP/3 only")                         \
    X(FORWARDED, "forwarded", CHAIN)                                          \
    X(SAVE_DATA, "save-data", CLIENT)                                         \
    X(SEC_CH_UA, "sec-ch-ua", CLIENT)                                         \
    X(X_REAL_IP, "x-real-ip", CHAIN)                                          \
    X(CF_VISITOR, "cf-visitor", CDN)                                          \
    X(CONNECTION, "connection", "reproduced")                                 \
    X(KEEP_ALIVE, "keep-alive",                                               \
      "a wish of the client that httpd does not read")                        \
    X(TRACESTATE, "tracestate", TRACE)                                        \
    X(USER_AGENT, "user-agent", "logs and SetEnvIf")                          \
    X(SEC_PURPOSE, "sec-purpose", CLIENT)                                     \
    X(TRACEPARENT, "traceparent", TRACE)                                      \
    X(X_B3_SPANID, "x-b3-spanid", TRACE)                                      \
    X(CF_IPCOUNTRY, "cf-ipcountry", CDN)                                      \
    X(ICY_METADATA, "icy-metadata", "asked of streaming servers")             \
    X(X_B3_SAMPLED, "x-b3-sampled", TRACE)                                    \
    X(X_B3_TRACEID, "x-b3-traceid", TRACE)                                    \
    X(X_REQUEST_ID, "x-request-id", TRACE)                                    \
    X(CACHE_CONTROL, "cache-control", CACHING)                                \
    X(IF_NONE_MATCH, "if-none-match", "reproduced")                           \
    X(ACCEPT_CHARSET, "accept-charset", NEGOTIATED)                           \
    X(SEC_FETCH_DEST, "sec-fetch-dest", CLIENT)                               \
    X(SEC_FETCH_MODE, "sec-fetch-mode", CLIENT)                               \
    X(SEC_FETCH_SITE, "sec-fetch-site", CLIENT)                               \
    X(SEC_FETCH_USER, "sec-fetch-user", CLIENT)                               \
    X(SERVICE_WORKER, "service-worker", CLIENT)                               \
    X(TRUE_CLIENT_IP, "true-client-ip", CDN)                                  \
    X(ACCEPT_ENCODING, "accept-encoding", "in the key")                       \
    X(ACCEPT_LANGUAGE, "accept-language", NEGOTIATED)                         \
    X(X_AMZN_TRACE_ID, "x-amzn-trace-id", TRACE)                              \
    X(X_FORWARDED_FOR, "x-forwarded-for", CHAIN)                              \
    X(CF_CONNECTING_IP, "cf-connecting-ip", CDN)                              \
    X(PROXY_CONNECTION, "proxy-connection", "mod_proxy and expressions only") \
    X(SEC_CH_UA_MOBILE, "sec-ch-ua-mobile", CLIENT)                           \
    X(X_CORRELATION_ID, "x-correlation-id", TRACE)                            \
    X(X_FORWARDED_HOST, "x-forwarded-host", CHAIN)                            \
    X(X_FORWARDED_PORT, "x-forwarded-port", CHAIN)                            \
    X(X_REQUESTED_WITH, "x-requested-with", CLIENT)                           \
    X(IF_MODIFIED_SINCE, "if-modified-since", "reproduced")                   \
    X(X_FORWARDED_PROTO, "x-forwarded-proto", CHAIN)                          \
    X(SEC_CH_UA_PLATFORM, "sec-ch-ua-platform", CLIENT)                       \
    X(X_FORWARDED_SERVER, "x-forwarded-server", CHAIN)                        \
    X(X_CLOUD_TRACE_CONTEXT, "x-cloud-trace-context", TRACE)                  \
    X(UPGRADE_INSECURE_REQUESTS, "upgrade-insecure-requests", CLIENT)
/* clang-format on */

#define REQUEST_FIELD_ID(id, name, why) REQUEST_##id,
enum request_id {
    REQUEST_FIELD_LIST(REQUEST_FIELD_ID) REQUEST_IDS
};

/* No known name is longer. */
#define REQUEST_FIELD_NAME 25

/* The byte in lower case when it may stand in a known name, else 0. */
extern const unsigned char requestfield_fold[256];

/* The id of a name already in lower case, or -1. */
int request_field_find(const char *lower, size_t len);

/* 1 when some name whose id is not among the bits of @a seen starts with these
 * bytes (in lower case); a complete name counts too. */
int request_field_starts(const char *lower, size_t len, uint64_t seen);

/* The name of a field in lower case, NULL when there is no such id. */
const char *request_field_name(unsigned id);

/* Why a request may have this field; NULL when there is no such id. For the
 * documentation and the status. */
const char *request_field_why(unsigned id);

#endif
