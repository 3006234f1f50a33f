/* SPDX-License-Identifier: Apache-2.0 */
#include "base/httpdate.h"

#include <string.h>

static const char days[] = "SunMonTueWedThuFriSat";
static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

/* The index of a three-letter name in a list of them, or -1. */
static int name_index(const char *list, const char *name)
{
    int i;

    for (i = 0; list[3 * i]; i++) {
        if (!memcmp(list + 3 * i, name, 3)) {
            return i;
        }
    }
    return -1;
}

/* The value of @a n decimal digits, or -1. */
static int number(const char *p, int n)
{
    int v = 0;

    while (n-- > 0) {
        if (*p < '0' || *p > '9') {
            return -1;
        }
        v = v * 10 + *p++ - '0';
    }
    return v;
}

static int leap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int month_days(int year, int month)
{
    static const char length[12] = {31, 28, 31, 30, 31, 30,
                                    31, 31, 30, 31, 30, 31};

    return month == 1 && leap(year) ? 29 : length[month];
}

/* Days from 1970 to the first of January of @a year. */
static int64_t year_start(int year)
{
    int64_t y = year - 1;

    return 365 * (int64_t)(year - 1970) + (y / 4 - y / 100 + y / 400)
           - (1969 / 4 - 1969 / 100 + 1969 / 400);
}

int64_t httpdate_parse(const char *t, size_t len)
{
    int day, month, year, hour, minute, second, m;
    int64_t total;

    if (len != HTTPDATE_LEN || memcmp(t + 3, ", ", 2) != 0 || t[7] != ' '
        || t[11] != ' ' || t[16] != ' ' || t[19] != ':' || t[22] != ':'
        || memcmp(t + 25, " GMT", 4) != 0 || name_index(days, t) < 0) {
        return -1;
    }
    day = number(t + 5, 2);
    month = name_index(months, t + 8);
    year = number(t + 12, 4);
    hour = number(t + 17, 2);
    minute = number(t + 20, 2);
    second = number(t + 23, 2);
    if (month < 0 || year < 1970 || year > 2100 || day < 1
        || day > month_days(year, month) || hour < 0 || hour > 23 || minute < 0
        || minute > 59 || second < 0 || second > 59) {
        return -1;
    }
    total = year_start(year) + day - 1;
    for (m = 0; m < month; m++) {
        total += month_days(year, m);
    }
    return ((total * 24 + hour) * 60 + minute) * 60 + second;
}

static void put(char *p, int n, int digits)
{
    while (digits-- > 0) {
        p[digits] = (char)('0' + n % 10);
        n /= 10;
    }
}

void httpdate_format(char out[HTTPDATE_LEN], int64_t seconds)
{
    static const char form[HTTPDATE_LEN + 1] = "Sun, 00 Jan 0000 00:00:00 GMT";
    int64_t day = seconds / 86400;
    int left = (int)(seconds % 86400);
    int year = (int)(1970 + day / 366), month = 0;

    memcpy(out, form, sizeof(form) - 1);
    memcpy(out, days + 3 * ((day + 4) % 7), 3); /* 1970 began on Thursday */
    while (year_start(year + 1) <= day) {
        year++;
    }
    day -= year_start(year);
    while (day >= month_days(year, month)) {
        day -= month_days(year, month++);
    }
    put(out + 5, (int)day + 1, 2);
    memcpy(out + 8, months + 3 * month, 3);
    put(out + 12, year, 4);
    put(out + 17, left / 3600, 2);
    put(out + 20, left / 60 % 60, 2);
    put(out + 23, left % 60, 2);
}
