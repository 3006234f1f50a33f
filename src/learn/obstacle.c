/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/obstacle.h"

#include <apr_strings.h>

const char *obstacle_text(apr_pool_t *p, const obstacle *o)
{
    return o->file ? apr_psprintf(p, "%s (%s:%d)", o->what, o->file, o->line)
                   : o->what;
}
