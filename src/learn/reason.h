/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reason: why an answer is not learned. Static text; any thread.
 */
#ifndef CPUAFFINITY_REASON_H
#define CPUAFFINITY_REASON_H

/* Why something is not learned: id, the rule, the text for log and status. */
/* clang-format off */
#define REASONS(X)                                                      \
    X(OFF, "FixedStatic", "FixedStatic is not on here")                       \
    X(MODULE, "S1", "a module that is not known has hooks")                   \
    X(SERVER, "S2", "a directive of the server that is not understood")       \
    X(SECTION, "S2", "a module is configured in a section")                   \
    X(AUDIT, "audit", "an audit found another answer")                        \
    X(UNFIT, "R0", "not the request that was recognised")                     \
    X(SHAPE, "R1", "not a plain GET answered with 200")                       \
    X(HTACCESS, "R1", ".htaccess files may be read")                          \
    X(INDEX, "R1", "not the named file, nor the first DirectoryIndex")        \
    X(HANDLER, "R2", "not the default handler's file")                        \
    X(CONDITION, "R2", "<If> or an expression decides")                       \
    X(FILTER, "R3", "a filter stands on the way out")                         \
    X(CLIENT, "R4", "it was asked who the client is")                         \
    X(ENVIRONMENT, "R5", "environment variables were set")                    \
    X(FILE, "R6", "not exactly one whole file")                               \
    X(LINKS, "R6", "links are checked on the way to the file")                \
    X(YOUNG, "R6", "the file has just changed")                               \
    X(BODY, "R6", "its compressed body cannot be repeated")                   \
    X(HEAD, "R7", "header fields that are not repeated")                      \
    X(VERIFY, "R8", "the answer cannot be made again byte for byte")
/* clang-format on */

#define REASON_ID(id, rule, text) REASON_##id,
typedef enum reason_id {
    REASON_OK = -1,
    REASONS(REASON_ID) REASON_COUNT
} reason_id;

/* "R4"; "it was asked who the client is". */
const char *reason_rule(reason_id reason);
const char *reason_text(reason_id reason);

#endif
