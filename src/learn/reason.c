/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/reason.h"

#define REASON_ROW(id, rule, text) {rule, text},
static const struct {
    const char *rule;
    const char *text;
} reasons[REASON_COUNT] = {REASONS(REASON_ROW)};

const char *reason_rule(reason_id reason)
{
    return reason < 0 ? "" : reasons[reason].rule;
}

const char *reason_text(reason_id reason)
{
    return reason < 0 ? "" : reasons[reason].text;
}
