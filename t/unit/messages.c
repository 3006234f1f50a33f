/* SPDX-License-Identifier: Apache-2.0 */
/* Redirects and missing names: the cache, what it watches, the heads. */
#include "cachetest.h"

#include "cache/cache_path.h"

#define HEAD(STATUS, MORE)                                                     \
    "HTTP/1.1 " STATUS "\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"           \
    "Server: x\r\n" MORE "Content-Length: 4\r\n"                               \
    "Content-Type: text/html; charset=iso-8859-1\r\n\r\n"

static int take(response *a, const char *head, char *copy)
{
    const uint64_t digest[2] = {1, 2};
    const char *error;

    return response_learn(a, head, strlen(head), -1, RESPONSE_MESSAGE, copy,
                          &error)
           || response_set_body(a, "body", 4, digest);
}

static cache_outcome message(cache *c, const char *key, cache_cause cause,
                             const char *name, int64_t now)
{
    char copy[RESPONSE_HEAD], *body = strdup("body");
    cache_outcome outcome;
    uint64_t digest = 0;
    response a;

    if (cause != CACHE_CAUSE_KEY && cache_path_look(name, cause, &digest)) {
        free(body);
        return CACHE_REFUSED;
    }
    take(&a, HEAD("404 Not Found", ""), copy);
    outcome = cache_learn_message(c, key_of(key), &a, cause, name, digest, now,
                                  NULL, &body);
    free(body);
    return outcome;
}

static cache_outcome twice(cache *c, const char *key, cache_cause cause,
                           const char *name, int64_t now)
{
    message(c, key, cause, name, now);
    return message(c, key, cause, name, now);
}

/* Each change on the way shows when VALID (1000) is over. */
static void watched(void)
{
    cache *c = make();
    const char *name;

    mkdir(path("d"), 0755);
    name = strdup(path("d/x"));
    is_int(twice(c, "k", CACHE_CAUSE_ABSENT, name, 0), CACHE_LIVE, "absent");
    ok(use(c, "k", 0) && use(c, "k", 1000), "known");
    is_int(find(c, "k")->file->size, 4, "its body");
    write_file("d/y", "y");
    ok(use(c, "k", 2000), "another name does not matter");
    write_file("d/x", "x");
    ok(use(c, "k", 2999), "within VALID it may be old");
    ok(!use(c, "k", 3000) && !find(c, "k"), "it appears");
    is_int(message(c, "k", CACHE_CAUSE_ABSENT, name, 0), CACHE_REFUSED,
           "it is there");
    unlink(name);
    twice(c, "k", CACHE_CAUSE_ABSENT, name, 4000);
    ok(symlink("nowhere", name) == 0 && !use(c, "k", 5000), "a dangling link");
    unlink(name);
    twice(c, "k", CACHE_CAUSE_ABSENT, name, 5000);
    rename(path("d"), path("e"));
    ok(!use(c, "k", 6000), "its directory has gone");
    mkdir(path("d"), 0755);
    twice(c, "k", CACHE_CAUSE_ABSENT, name, 6000);
    chmod(path("d"), 0711);
    ok(!use(c, "k", 7000), "its rights have changed");
    twice(c, "k", CACHE_CAUSE_ABSENT, name, 7000);
    rename(path("d"), path("f"));
    ok(symlink("f", path("d")) == 0 && !use(c, "k", 8000), "a link to it");
    is_int(twice(c, "k", CACHE_CAUSE_ABSENT, name, 8000), CACHE_LIVE,
           "by which it is found");
    unlink(path("d"));
    ok(symlink("e", path("d")) == 0 && !use(c, "k", 9000), "a link elsewhere");
    free((char *)name);
    cache_free(c);
}

static void kinds(void)
{
    cache *c = make();
    uint64_t digest;

    is_int(twice(c, "n", CACHE_CAUSE_KEY, "", 0), CACHE_LIVE, "nothing");
    ok(use(c, "n", 5000), "is always so");
    ok(!use(c, "n", CACHE_AGE), "but not for ever");
    mkdir(path("g"), 0755);
    is_int(twice(c, "g", CACHE_CAUSE_DIRECTORY, path("g"), 0), CACHE_LIVE,
           "a directory");
    ok(use(c, "g", 1000), "known");
    rmdir(path("g"));
    write_file("g", "g");
    ok(!use(c, "g", 2000), "a file instead");
    ok(cache_path_look("relative", CACHE_CAUSE_ABSENT, &digest)
           && cache_path_look("", CACHE_CAUSE_ABSENT, &digest)
           && cache_path_look("/", CACHE_CAUSE_ABSENT, &digest),
       "no path to watch");
    symlink("nowhere", path("l"));
    ok(cache_path_look(path("l//"), CACHE_CAUSE_ABSENT, &digest),
       "slashes do not hide a link");
    ok(cache_path_look(path("g/x"), CACHE_CAUSE_ABSENT, &digest),
       "below a file there is nothing to be absent");
    cache_free(c);
}

/* A file's answer takes the place of a message, and the other way round. */
static void turns(void)
{
    cache *c = make();

    twice(c, "/t", CACHE_CAUSE_ABSENT, path("t"), 0);
    write_file("t", "text");
    is_int(learn(c, "/t", "t", "", 0), CACHE_CHANGED, "now it is a file");
    is_int(learn(c, "/t", "t", "", 0), CACHE_LIVE, "...");
    ok(find(c, "/t")->file->size == 4 && !find(c, "/t")->answer.message, "...");
    unlink(path("t"));
    is_int(message(c, "/t", CACHE_CAUSE_ABSENT, path("t"), 0), CACHE_CHANGED,
           "now it is not");
    ok(!use(c, "/t", 0), "once");
    cache_free(c);
}

/* A scanner. */
static void flood(void)
{
    cache *c = make(); /* 100 entries */
    char key[16];
    int i, kept = 0;

    write_file("a", "hello");
    for (i = 0; i < 90; i++) {
        snprintf(key, sizeof(key), "f%d", i);
        learn(c, key, "a", "", 0);
    }
    for (i = 0; i < 1000; i++) {
        snprintf(key, sizeof(key), "m%d", i);
        twice(c, key, CACHE_CAUSE_KEY, "", 0);
    }
    ok(use(c, "m999", 0) && use(c, "m990", 0) && !find(c, "m989"),
       "a tenth are messages");
    for (i = 0; i < 90; i++) {
        snprintf(key, sizeof(key), "f%d", i);
        kept += find(c, key) != NULL;
    }
    is_int(kept, 90, "files are not pushed out");
    cache_free(c);
}

#define F "GET /x HTTP/1.1\r\nHost: a\r\n"

static const char *reply(const response *a, const char *text)
{
    static char buf[RESPONSE_HEAD + RESPONSE_EXTRA];
    response_connection conn = {.keep_alive = 1, .timeout = 5000000};
    response_clock clock = {.now = 0};
    response_reply r;
    request req;

    response_clock_set(&clock, 784111778);
    if (request_recognise(text, strlen(text), NULL, &req) != REQUEST_MINE
        || response_make(a, &req, text, &clock, &conn, buf, sizeof(buf) - 1,
                         &r)) {
        return "";
    }
    buf[r.head_len] = '\0';
    snprintf(buf + r.head_len, sizeof(buf) - r.head_len, "%d %d %d", r.status,
             (int)r.body_len, (int)r.content);
    return buf;
}

static void heads(void)
{
    static const char *const lines[] = {
        HEAD("301 Moved Permanently", "Location: /y\r\n"),
        HEAD("302 Found", ""),
        HEAD("303 See Other", ""),
        HEAD("307 Temporary Redirect", ""),
        HEAD("308 Permanent Redirect", ""),
        HEAD("404 Not Found", ""),
        HEAD("410 Gone", ""),
    };
    static const char *const refused[] = {
        HEAD("200 OK", ""),
        HEAD("403 Forbidden", ""),
        HEAD("404 not found", ""),
        HEAD("304 Not Modified", ""),
        HEAD("404 Not Found", "Content-Encoding: gzip\r\n"),
        HEAD("404 Not Found", "Set-Cookie: a\r\n"),
        "HTTP/1.1 404 Not Found\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n",
        "HTTP/1.1 404 Not Found\r\n",
    };
    char copy[RESPONSE_HEAD], want[RESPONSE_HEAD];
    response a;
    size_t i;

    for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        ok(!take(&a, lines[i], copy), "%.3s is taken", lines[i] + 9);
        snprintf(want, sizeof(want), "%s%d 4 4", lines[i], atoi(lines[i] + 9));
        memcpy(strstr(want, ":37 GMT"), ":38", 3);
        is_str(reply(&a, F "\r\n"), want, "GET");
        is_str(reply(&a, F "Range: bytes=0-1\r\nIf-None-Match: *\r\n\r\n"),
               want, "no condition and no range matters");
        memmove(strstr(want, "Content-Length"), strstr(want, "Content-Type"),
                strlen(strstr(want, "Content-Type")) + 1);
        memcpy(want + strlen(want) - 3, "0 0", 3);
        is_str(reply(&a, "HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n"), want, "HEAD");
    }
    for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        ok(take(&a, refused[i], copy), "refused: %.3s, %d", refused[i] + 9,
           (int)i);
    }
}

int main(void)
{
    if (cachetest_start()) {
        return 1;
    }
    watched();
    kinds();
    turns();
    flood();
    heads();
    cachetest_end();
    return done();
}
