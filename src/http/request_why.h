/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_why: why a request is not mine, for the status and the log. Never on
 * the path of requests that are mine. Pure; any thread.
 */
#ifndef CPUAFFINITY_REQUEST_WHY_H
#define CPUAFFINITY_REQUEST_WHY_H

#include <stddef.h>

/* Why a request is not mine: id, the name in the status, what it means. The
 * last two come from the loop: the request itself was recognised. */
/* clang-format off */
#define REQUEST_WHY_LIST(X)                                                   \
    X(METHOD, "method", "another method than GET and HEAD")                   \
    X(ABSOLUTE, "absolute", "a target that does not begin with a slash")      \
    X(TARGET, "target", "a target that can be read in more than one way")     \
    X(VERSION, "version", "another version than HTTP/1.0 and 1.1")            \
    X(SIZE, "size", "longer than a limit, or than 8000 bytes")                \
    X(COUNT, "count", "more fields than LimitRequestFields, or than 100")     \
    X(FIELD, "field", "a field that only httpd judges")                       \
    X(BODY, "body", "a field that announces a body")                          \
    X(TWICE, "twice", "a field that came twice")                              \
    X(SYNTAX, "syntax", "bytes or line ends that only httpd judges")          \
    X(HOST, "host", "no Host, or one that is not a plain name")               \
    X(CONNECTION, "connection", "Connection is not close, keep-alive or TE") \
    X(KEY, "key", "no key: something is too long, or came twice")             \
    X(SETENVIF, "setenvif", "a SetEnvIf or BrowserMatch may match")
/* clang-format on */

#define REQUEST_WHY_ID(id, name, text) REQUEST_WHY_##id,
typedef enum request_why {
    REQUEST_WHY_LIST(REQUEST_WHY_ID) REQUEST_WHYS
} request_why;

/* "field"; "a field that only httpd judges"; NULL past the end. */
const char *request_why_name(unsigned why);
const char *request_why_text(unsigned why);

/*
 * Why no request that is mine has this field.
 * @param name the first byte of its line
 * @param end no byte from here on is read
 * @param len set to the length of the part that is a name in HTTP
 */
request_why request_why_field(const char *name, const char *end, size_t *len);

#endif
