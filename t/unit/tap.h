/* SPDX-License-Identifier: Apache-2.0 */
/* The test anything protocol for C: ok(), is_int(), is_str(), done(). */
#ifndef TAP_H
#define TAP_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int tap_run, tap_failed;

/* One test: passes when @a pass is not 0. @return pass */
__attribute__((format(printf, 2, 3))) static inline int
ok(int pass, const char *name, ...)
{
    va_list ap;

    if (!pass) {
        tap_failed++;
    }
    printf("%sok %d - ", pass ? "" : "not ", ++tap_run);
    va_start(ap, name);
    vprintf(name, ap);
    va_end(ap);
    printf("\n");
    fflush(stdout);
    return pass;
}

static inline int is_int(long got, long want, const char *name)
{
    if (!ok(got == want, "%s", name)) {
        printf("#      got: %ld\n# expected: %ld\n", got, want);
    }
    return got == want;
}

static inline int is_str(const char *got, const char *want, const char *name)
{
    int same = (got && want) ? !strcmp(got, want) : got == want;

    if (!ok(same, "%s", name)) {
        printf("#      got: %s\n# expected: %s\n", got ? got : "(null)",
               want ? want : "(null)");
    }
    return same;
}

/* Prints the plan; the value for main to return. */
static inline int done(void)
{
    printf("1..%d\n", tap_run);
    return tap_failed != 0;
}

#endif
