/* SPDX-License-Identifier: Apache-2.0 */
/* linear: what it takes PCRE takes, and both find the same: a byte of flags,
 * an expression, a line end, a text.
 * libs: -lpcre2-8
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "base/linear.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "replay.h"

#define LONGEST 400

/* As httpd's ap_regexec. @return 1, 0, or -1: it gave up */
static int pcre_finds(const char *pattern, int icase, const char *text,
                      size_t len)
{
    pcre2_match_data *m;
    pcre2_code *code;
    size_t at;
    int error, rc;

    code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
                         PCRE2_DOLLAR_ENDONLY | (icase ? PCRE2_CASELESS : 0),
                         &error, &at, NULL);
    if (!code) {
        abort(); /* the form is wider than PCRE's */
    }
    m = pcre2_match_data_create_from_pattern(code, NULL);
    rc = pcre2_match(code, (PCRE2_SPTR)text, len, 0, 0, m, NULL);
    pcre2_match_data_free(m);
    pcre2_code_free(code);
    return rc >= 0 ? 1 : rc == PCRE2_ERROR_NOMATCH ? 0 : -1;
}

/* Bytes as the recogniser lets through. */
static size_t make_text(char *out, const uint8_t *in, size_t len)
{
    size_t i;

    for (i = 0; i < len; i++) {
        out[i] = (char)(in[i] & 0x7f);
        if (out[i] < ' ' || out[i] == 0x7f) {
            out[i] = in[i] & 1 ? '\t' : 'a';
        }
    }
    return len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char pattern[LONGEST + 1] = "", text[LONGEST];
    const uint8_t *end;
    size_t len;
    linear *set;
    int want;

    if (size < 3 || size > LONGEST || !(end = memchr(data + 1, '\n', size - 1))
        || memchr(data + 1, 0, (size_t)(end - data - 1))) {
        return 0;
    }
    memcpy(pattern, data + 1, (size_t)(end - data - 1));
    end++;
    len = make_text(text, end, size - (size_t)(end - data));
    set = linear_make();
    if (!linear_add(set, pattern, data[0] & 1)) {
        want = pcre_finds(pattern, data[0] & 1, text, len);
        if (want >= 0 && want != linear_found(set, text, len)) {
            abort();
        }
        /* none of them finds anything in nothing */
        if (linear_found(set, text, 0)) {
            abort();
        }
    }
    linear_free(set);
    return 0;
}
