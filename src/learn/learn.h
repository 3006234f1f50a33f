/*
 * learn: when an answer of httpd may be learned. LEARNING.md is the rule
 * book, and each rule is one function here: S1 and S2 at start
 * (learnmodules, learnserver), R0 to R8 for the request that is learned
 * (learnrule), with what was traced on its way (learntrace). What is refused
 * is logged once per reason and scope, counted, and listed by
 * "-t -D DUMP_CPUAFFINITY" as far as it is known before start.
 */
#ifndef CPUAFFINITY_LEARN_H
#define CPUAFFINITY_LEARN_H

#include "httpd.h"
#include "http_config.h"

#include "learn/lesson.h"
#include "learn/obstacle.h"
#include "http/request.h"

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
    X(INDEX, "R1", "not the first DirectoryIndex")                            \
    X(UPGRADE, "R1", "another protocol is offered")                           \
    X(HANDLER, "R2", "not the default handler's file")                        \
    X(CONDITION, "R2", "<If> or an expression decides")                       \
    X(FILTER, "R3", "a filter stands on the way out")                         \
    X(CLIENT, "R4", "it was asked who the client is")                         \
    X(ENVIRONMENT, "R5", "environment variables were set")                    \
    X(FILE, "R6", "not exactly one whole file")                               \
    X(LINKS, "R6", "links are checked on the way to the file")                \
    X(YOUNG, "R6", "the file has just changed")                               \
    X(HEAD, "R7", "header fields that are not repeated")                      \
    X(VERIFY, "R8", "the answer cannot be made again byte for byte")
/* clang-format on */

#define REASON_ID(id, rule, text) REASON_##id,
typedef enum reason_id {
    REASON_OK = -1,
    REASONS(REASON_ID) REASON_COUNT
} reason_id;

/* "R4"; "it was asked who the client is". Any thread. */
const char *reason_rule(reason_id reason);
const char *reason_text(reason_id reason);

/* How often all processes of this generation refused for that reason. Any
 * thread. */
uint64_t learn_refusals(reason_id reason);

/* What is known of one server. */
typedef struct learn_state {
    const char *name; /* of the vhost, "the main server" without one */
    int wanted;       /* FixedStatic is on somewhere in it */
    const char *rule; /* that refuses it as a whole; NULL: none */
    const char *why;  /* directive and place, or module; NULL without rule */
} learn_state;

/* What stands in the way, of all servers; NULL: there are no more. The n-th
 * has the index n. Any thread of a child. */
const obstacle *learn_obstacle(unsigned n);

/* The n-th server's. @return 0: there are no more. Any thread of a child. */
int learn_server(unsigned n, learn_state *state);

/* --- For the loop; any thread after learn_child_init() --- */

/* What the loop needs to know of a local address: read-only. Times are in
 * milliseconds, 0: none. */
typedef struct address {
    int reads;             /* 0: hand over at once, do not read */
    request_limits limits; /* the smallest of all vhosts behind it */
    int64_t timeout;       /* Timeout, of the address's default vhost */
    /* RequestReadTimeout header=FIRST-MAX,MinRate=RATE; when mod_reqtimeout
     * is not there, first is 0: only Timeout counts. */
    int64_t header_first;
    int64_t header_max;
    int header_rate; /* bytes per second that add a second each; 0: none */
} address;

/*
 * Is there a FixedStatic vhost behind this address, and is every vhost
 * behind it plain HTTP (no SSLEngine, no PROXY protocol, no other protocol)?
 * @param local as of getsockname; may be a wildcard
 * @param protocol of the Listen, or NULL
 * @return never NULL, allocated once from @a p
 */
const address *address_make(apr_pool_t *p, const struct sockaddr *local,
                            const char *protocol);

/*
 * Does any SetEnvIf or BrowserMatch expression of the configuration match, or
 * is there one that the loop cannot evaluate for a field that is there? Then
 * the request is not mine (S2). Linear in the fields, whatever is in them.
 * The loop's thread or a worker's.
 * @return 1: not mine; 0
 */
int setenvif_matches(const request *req, const char *head);

/* Has a module registered hooks since S1 was judged? Then nothing is learned
 * any more. Any worker. */
int learn_hooks_changed(void);

/* An audit found that httpd's answer differs: FixedStatic is off for the
 * vhost in all processes from now on; logged and counted. The caller clears
 * its cache. Any thread. */
void learn_differs(const lesson *l, const char *what);

/* Did an audit, in any process, turn the vhost off? Any thread. */
int learn_is_off(const server_rec *s);

/* How many vhosts audits of all processes have turned off: when it grows,
 * what was learned before is not to be repeated. Any thread. */
unsigned learn_offs(void);

/* --- Hooks, in the order in which httpd runs them --- */

/* Before the tree is carried out, after all modules have registered their
 * providers: wraps authorisation providers (R4). pre_config REALLY_LAST. */
void learn_pre_config(apr_pool_t *pconf);

/* Reads what the tree says of servers (S2); in post_config. */
void learn_post_config(apr_pool_t *pconf, server_rec *s);

/* -t -D DUMP_CPUAFFINITY: what is refused as far as known. test_config. */
void learn_dump(apr_pool_t *p, server_rec *s);

/* Judges the hooks of all modules (S1). child_init REALLY_LAST, before the
 * loop starts. */
void learn_child_init(apr_pool_t *pchild, server_rec *s);

/* Registers filters and the hooks that trace a request, each with its order
 * and reason. register_hooks. */
void learn_register(apr_pool_t *p);

#endif
