/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/cost.h"

/* What would change a refusal for which no directive is to blame. */
static const char *const of_reason[REASON_COUNT] = {
    [REASON_OFF] = "FixedStatic on where files are served",
    [REASON_AUDIT] = "the error log names the file: a restart learns anew, "
                     "after what made the answers differ is gone",
    [REASON_SHAPE] = "nothing for errors and redirects: only files are "
                     "repeated",
    [REASON_INDEX] = "make the file that exists the first DirectoryIndex; "
                     "nothing for paths that are rewritten or encoded",
    [REASON_HANDLER] = "nothing for programs and proxies: only files are "
                       "repeated",
    [REASON_ENVIRONMENT] = "keep what sets variables (SetEnvIf, RewriteRule) "
                           "to the sections that need it",
    [REASON_FILE] = "nothing: another module made the answer, or the file "
                    "changed meanwhile",
    [REASON_YOUNG] = "nothing: it is learned when the file is two seconds old",
};

/* What would change that requests are not recognised. */
static const char *const of_why[REQUEST_WHYS] = {
    [REQUEST_WHY_METHOD] = "nothing: only GET and HEAD are repeated",
    [REQUEST_WHY_FIELD] = "LogLevel cpuaffinity:debug names the field: whoever "
                          "sends it, a proxy perhaps, may leave it out",
    [REQUEST_WHY_SIZE] = "fewer and shorter cookies for static files: a "
                         "host name of their own has none",
    [REQUEST_WHY_SETENVIF] = "take the SetEnvIf or BrowserMatch away if no "
                             "client needs it any more",
    [REQUEST_WHY_BODY] = "nothing: only GET and HEAD without a body are "
                         "repeated",
};

#define DEFAULT_ADVICE "LogLevel cpuaffinity:debug tells of each one"

#define ROW(id, kind, name, text, advice) {#kind, name, text, advice},
static const cost_text others[] = {COST_LIST(ROW)};

static const char *advice(const char *known)
{
    return known ? known : DEFAULT_ADVICE;
}

cost_text cost_describe(unsigned cause)
{
    cost_text t;

    if (cause < COST_REASONS) {
        reason_id reason = (reason_id)cause;

        t.kind = reason == REASON_OFF     ? "off"
                 : reason == REASON_YOUNG ? "learn"
                                          : "rule";
        t.name = reason_rule(reason);
        t.text = reason_text(reason);
        t.advice = advice(of_reason[reason]);
        return t;
    }
    if (cause < COST_WHYS) {
        unsigned why = cause - COST_REASONS;

        t.kind = "request";
        t.name = request_why_name(why);
        t.text = request_why_text(why);
        t.advice = advice(of_why[why]);
        return t;
    }
    t = others[cause - COST_WHYS];
    t.kind = *t.kind == 'L' ? "learn" : "unseen";
    return t;
}
