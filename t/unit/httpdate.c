/* SPDX-License-Identifier: Apache-2.0 */
/* httpdate: every day from 1970 to 2100 as the C library has it, and what is
 * not a date. */
#include "base/httpdate.h"

#include "tap.h"

#include <time.h>

static int parse(const char *text)
{
    return httpdate_parse(text, strlen(text)) >= 0;
}

int main(void)
{
    static const char *const bad[] = {
        "",
        "Sun, 06 Nov 1994 08:49:37 GM",
        "Sun, 06 Nov 1994 08:49:37 GMTx",
        "Sun, 06 Nov 1994 08:49:37 UTC",
        "sun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 nov 1994 08:49:37 GMT",
        "Sun, 31 Nov 1994 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT",
        "Sun, 29 Feb 1900 08:49:37 GMT",
        "Sun, 29 Feb 2023 08:49:37 GMT",
        "Sun, 29 Feb 2100 08:49:37 GMT",
        "Sun, 06 Nov 1969 08:49:37 GMT",
        "Sun, 06 Nov 2101 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:60:37 GMT",
        "Sun, 06 Nov 1994 08:49:60 GMT",
        "Sun,  6 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:3x GMT",
        "Sun, 06 Nov 1994 8:49:37  GMT",
        "Sun, 06-Nov-1994 08:49:37 GMT",
        "Xxx, 06 Nov 1994 08:49:37 GMT",
    };
    const int64_t end = 4133980799; /* the last second of 2100 */
    char text[64], out[HTTPDATE_LEN];
    int64_t t;
    int formats = 0, parses = 0, days = 0;
    size_t i;

    for (t = 0; t <= end; t += 86400 + 7 * (days % 3), days++) {
        time_t tt = (time_t)t;
        struct tm tm;

        strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT",
                 gmtime_r(&tt, &tm));
        httpdate_format(out, t);
        formats += !memcmp(out, text, HTTPDATE_LEN);
        parses += httpdate_parse(text, HTTPDATE_LEN) == t;
    }
    is_int(formats, days, "all are formatted as by strftime");
    is_int(parses, days, "all are parsed back");
    httpdate_format(out, end);
    ok(!memcmp(out, "Fri, 31 Dec 2100 23:59:59 GMT", HTTPDATE_LEN), "the last");
    is_int(httpdate_parse(out, HTTPDATE_LEN), end, "parsed back");
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ok(!parse(bad[i]), "no date: '%s'", bad[i]);
    }
    return done();
}
