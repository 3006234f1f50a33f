#include "fixed/learnlog.h"

#include "apr_hash.h"
#include "apr_strings.h"

#include <strings.h>

static struct {
    apr_pool_t *pool;
    apr_hash_t *formats;    /* nickname: format */
    const char *unnamed[8]; /* LogFormats without nickname: TransferLog's */
    int unnamed_count;      /* more than 8: counted on */
    int any;
    int fields;
} logs;

/* What is written for an answer of the loop just as httpd writes it. The
 * others tell of handlers (R), notes (n), TLS (x, c), the time to the first
 * byte (^). */
static const char writable[] = "%aAbBCDfhHiIklLmoOpPqrsStTuUvVX";

void learnlog_reset(apr_pool_t *p)
{
    memset(&logs, 0, sizeof(logs));
    logs.pool = p;
    logs.formats = apr_hash_make(p);
}

void learnlog_format(const ap_directive_t *node)
{
    const char *format = learntree_word(logs.pool, node, 0);
    const char *name = learntree_word(logs.pool, node, 1);

    if (name && format) {
        apr_hash_set(logs.formats, name, APR_HASH_KEY_STRING, format);
    }
    else if (format && logs.unnamed_count < 8) {
        logs.unnamed[logs.unnamed_count++] = format;
    }
    else {
        logs.unnamed_count = 9;
    }
}

/* One format: "%200,304{Name}i", "%<s", … */
static const char *judge_format(const char *p, int *env)
{
    while ((p = strchr(p, '%'))) {
        p++;
        p += strspn(p, "<>!,0123456789");
        if (*p == '{') {
            p = strchr(p, '}');
            if (!p) {
                return "a format that is not understood";
            }
            p++;
            p += strspn(p, "<>!,0123456789");
        }
        logs.fields |= *p == 'i' || *p == 'C' ? LEARNLOG_IN
                       : *p == 'o'            ? LEARNLOG_OUT
                                              : 0;
        if (*p == 'e') {
            *env = 1;
        }
        else if (!*p || !strchr(writable, *p)) {
            return apr_psprintf(logs.pool, "%%%.1s is httpd's to write", p);
        }
        p++;
    }
    return NULL;
}

static const char *judge_unnamed(int *env)
{
    const char *why = logs.unnamed_count > 8 ? "too many formats" : NULL;
    int i;

    for (i = 0; i < logs.unnamed_count && !why; i++) {
        why = judge_format(logs.unnamed[i], env);
    }
    return why;
}

const char *learnlog_judge(const ap_directive_t *node, int *env)
{
    const char *format = learntree_word(logs.pool, node, 1);
    const char *condition = learntree_word(logs.pool, node, 2);
    const char *named;

    logs.any = 1;
    if (!format) {
        return judge_unnamed(env);
    }
    if (condition && !strncasecmp(condition, "env=", 4)) {
        *env = 1;
    }
    else if (condition) {
        return "its condition is an expression";
    }
    named = apr_hash_get(logs.formats, format, APR_HASH_KEY_STRING);
    return judge_format(named ? named : format, env);
}

int learnlog_any(void)
{
    return logs.any;
}

int learnlog_fields(void)
{
    return logs.fields;
}
