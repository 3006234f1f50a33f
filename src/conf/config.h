/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config: the module's configuration as data, and the directives' setters.
 * All directives are GLOBAL_ONLY but FixedStatic, which is per directory.
 */
#ifndef CPUAFFINITY_CONFIG_H
#define CPUAFFINITY_CONFIG_H

#include "httpd.h"
#include "http_config.h"

#include "affinity/policy.h"

#define CONFIG_UNSET (-1)

/* Directives that may be given once; index of config_server.where and of
 * config_names, and the setters' cmd->info. */
typedef enum config_directive {
    CONFIG_AFFINITY,
    CONFIG_LISTENER,
    CONFIG_WORKERS,
    CONFIG_CPUS,
    CONFIG_SMT,
    CONFIG_MEMORY,
    CONFIG_CHILDREN,
    CONFIG_WATCH,
    CONFIG_STRICT,
    CONFIG_PROCESSES,
    CONFIG_CACHE,
    CONFIG_STEERING,
    CONFIG_BALANCE,
    CONFIG_STATIC_MEMORY,
    CONFIG_TLS,
    CONFIG_HTACCESS,
    CONFIG_DIRECTIVES
} config_directive;

typedef enum config_steering {
    CONFIG_STEERING_OFF,
    CONFIG_STEERING_CPU,
    CONFIG_STEERING_AUTO
} config_steering;

/* Server configuration; only the main server's is ever set. Create: all
 * unset. Merge: a member that is set in the later one wins. */
typedef struct config_server {
    policy *policy;   /* CPUAffinity, …Listener, …Workers, …CPUs, …SMT,
                                …Strict; never NULL */
    int memory_local; /* CPUAffinityMemory: 0 off, 1 local */
    int children_inherit;   /* CPUAffinityChildren: 0 original, 1 inherit */
    int watch;              /* CPUAffinityWatch: seconds, 0 off */
    int fixed;              /* FixedProcesses: N, PROCESSES_… */
    int cache_entries;      /* FixedStaticCache ENTRIES */
    int cache_valid;        /* … VALID, milliseconds */
    int steering;           /* FixedSteering: config_steering */
    int balance;            /* FixedBalance: 0, 1 */
    int tls;                /* FixedTLS: 0, 1 */
    int htaccess;           /* FixedStaticHtaccess: 0, 1 */
    apr_off_t memory_size;  /* FixedStaticMemory SIZE, bytes */
    apr_off_t memory_limit; /* … LIMIT, bytes */
    const char *where[CONFIG_DIRECTIVES]; /* "file:line", NULL: not given */
} config_server;

/* Directory configuration. Create: unset. Merge: the inner one wins. */
typedef struct config_dir {
    int fixed_static; /* FixedStatic: CONFIG_UNSET, 0, 1 */
    /* The rest is from marks: the number of one, or CONFIG_UNSET. */
    int refused;   /* whose directive forbids learning */
    int plain;     /* whose directive touches validators */
    int looks;     /* of a SetEnvIf */
    int rewritten; /* whose directive touches what clients say of them */
    int index;     /* of the first DirectoryIndex that counts */
    int names;     /* 1: that names files, 0: it has disabled what was before */
} config_dir;

/* The data of a FixedStatic in the tree that is a mark (learn/mark.h). */
typedef enum config_mark {
    CONFIG_MARK_REFUSED,
    CONFIG_MARK_PLAIN,
    CONFIG_MARK_REWRITTEN,
    CONFIG_MARK_LOOKS,
    CONFIG_MARK_INDEX,
    CONFIG_MARK_NO_INDEX, /* DirectoryIndex disabled */
    CONFIG_MARKS
} config_mark;
#define CONFIG_MARK(kind, number)                                              \
    ((void *)(apr_size_t)((number)*CONFIG_MARKS + (kind) + 1))

/* Members of the module record. Results from @a p. */
void *config_create_server(apr_pool_t *p, server_rec *s);
void *config_merge_server(apr_pool_t *p, void *base, void *add);
void *config_create_dir(apr_pool_t *p, char *path);
void *config_merge_dir(apr_pool_t *p, void *base, void *add);

/* Fills what is unset with the documented defaults. Once per reading of the
 * configuration, in check_config. */
void config_defaults(config_server *cf);

/* The main server's configuration; the one of a per-directory vector. */
config_server *config_get(const server_rec *s);
const config_dir *config_dir_get(const ap_conf_vector_t *dir);

/* A directive's name and place: "CPUAffinity", "file:line" or NULL. */
extern const char *const config_names[CONFIG_DIRECTIVES];
const char *config_where(const config_server *cf, const char *name);

/* Setters. @return NULL or a message, which httpd prints after file and line */
const char *config_set_argv(cmd_parms *cmd, void *dir, int argc,
                            char *const argv[]);
const char *config_set_word(cmd_parms *cmd, void *dir, const char *arg);
const char *config_set_words(cmd_parms *cmd, void *dir, const char *arg,
                             const char *arg2);
const char *config_set_static(cmd_parms *cmd, void *dir, int on);

#endif
