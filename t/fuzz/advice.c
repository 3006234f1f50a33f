/* SPDX-License-Identifier: Apache-2.0 */
/* advice: any bytes for a status, or for two with a zero byte between them;
 * what is printed of it has no control character but line ends.
 * links: src/cli/advise_text.c
 */
#include "report/advice.h"

#include "replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <apr_general.h>

#include "cli/advise_text.h"

static void look(const json_t *advice)
{
    char *text = NULL;
    size_t len = 0, i;
    FILE *out = open_memstream(&text, &len);
    apr_pool_t *p;

    apr_pool_create(&p, NULL);
    advise_text_print(p, out, advice, 3);
    fclose(out);
    for (i = 0; i < len; i++) {
        if ((unsigned char)text[i] < 0x20 && text[i] != '\n') {
            abort();
        }
    }
    free(text);
    apr_pool_destroy(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *why = NULL;
    const char *zero = size ? memchr(text, 0, size) : NULL;
    size_t first = zero ? (size_t)(zero - text) : size;
    json_t *now = json_loadb(text, first, 0, NULL), *before = NULL, *advice;
    static int ready;

    if (!ready) {
        apr_initialize();
        ready = 1;
    }
    if (zero) {
        before = json_loadb(zero + 1, size - first - 1, 0, NULL);
    }
    advice = now ? advice_make(now, before, &why) : NULL;
    if (advice) {
        look(advice);
    }
    else if (now && !why) {
        abort();
    }
    json_decref(advice);
    json_decref(before);
    json_decref(now);
    return 0;
}
