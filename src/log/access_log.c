/* SPDX-License-Identifier: Apache-2.0 */
#include "log/access_log.h"

#include "http_log.h"
#include "apr_thread_proc.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/pin.h"
#include "log/access_log_writer.h"
#include "log/access_log_line.h"
#include "log/log_format.h"

APLOG_USE_MODULE(cpuaffinity);

/* While the loop is busy, lines are gathered for this long (microseconds)
 * instead of waking the thread up for each. */
#define NAP 4000

/* A record with all that it points to, in one allocation. */
typedef struct line {
    struct line *next;
    access_log_record record;
    apr_time_t end;
    addr remote;
    addr local;
    request req;
} line;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t wanted;
    line *first;
    line *last;
    int asleep;   /* the thread waits for a signal */
    int stop;     /* no line will follow */
    int running;  /* loop's thread only */
    int answers;  /* a format shows fields of answers */
    unsigned out; /* atomic: reserved or waiting */
    accesslogline *maker;
    apr_thread_t *thread;
} logger = {.lock = PTHREAD_MUTEX_INITIALIZER,
            .wanted = PTHREAD_COND_INITIALIZER};

int access_log_is_needed(void)
{
    return log_format_has_any();
}

/* All that wait; NULL: the end. */
static line *take(void)
{
    line *l;

    pthread_mutex_lock(&logger.lock);
    while (!logger.first && !logger.stop) {
        logger.asleep = 1;
        pthread_cond_wait(&logger.wanted, &logger.lock);
    }
    logger.asleep = 0;
    l = logger.first;
    logger.first = logger.last = NULL;
    pthread_mutex_unlock(&logger.lock);
    return l;
}

static void *APR_THREAD_FUNC run(apr_thread_t *thread, void *unused)
{
    line *l;

    pin_name(0, "httpd/log");
    access_log_writer_begin();
    while ((l = take())) {
        while (l) {
            line *next = l->next;

            access_log_line_write(logger.maker, &l->record, l->end);
            free(l);
            __atomic_fetch_sub(&logger.out, 1, __ATOMIC_RELEASE);
            l = next;
        }
        access_log_line_flush(logger.maker);
        apr_sleep(NAP);
    }
    return NULL;
}

apr_status_t access_log_start(server_rec *s)
{
    apr_pool_t *own;
    apr_status_t rv;

    /* The thread has a pool, and with it an allocator, of its own. */
    rv = apr_pool_create_unmanaged_ex(&own, NULL, NULL);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    logger.maker = access_log_line_make(own, s);
    if (!logger.maker) {
        return APR_EGENERAL;
    }
    logger.answers = log_format_fields() & LOG_FORMAT_OUT;
    access_log_writer_install();
    rv = apr_thread_create(&logger.thread, NULL, run, NULL, own);
    if (rv != APR_SUCCESS) {
        ap_log_error(APLOG_MARK, APLOG_ERR, rv, s,
                     "FixedStatic: no thread for the access log");
        return rv;
    }
    logger.running = 1;
    return APR_SUCCESS;
}

int access_log_reserve(void)
{
    if (!logger.running
        || __atomic_load_n(&logger.out, __ATOMIC_ACQUIRE) >= ACCESS_LOG_ROOM) {
        return -1;
    }
    __atomic_fetch_add(&logger.out, 1, __ATOMIC_RELAXED);
    return 0;
}

void access_log_cancel(void)
{
    __atomic_fetch_sub(&logger.out, 1, __ATOMIC_RELEASE);
}

/* Copies @a len bytes to *to and moves it on. */
static const char *put(char **to, const char *from, size_t len)
{
    char *at = *to;

    memcpy(at, from, len);
    *to += len;
    return at;
}

static line *copy(const access_log_record *r)
{
    size_t path_len = strlen(r->path) + 1;
    size_t answer_len = logger.answers ? r->answer_len : 0;
    line *l = malloc(sizeof(*l) + r->req->consumed + answer_len + path_len
                     + r->env_len);
    char *p;

    if (!l) {
        return NULL;
    }
    p = (char *)(l + 1);
    l->next = NULL;
    l->record = *r;
    l->remote = *r->remote;
    l->local = *r->local;
    l->req = *r->req;
    l->record.remote = &l->remote;
    l->record.local = &l->local;
    l->record.req = &l->req;
    l->record.head = put(&p, r->head, r->req->consumed);
    l->record.answer = put(&p, r->answer, answer_len);
    l->record.answer_len = answer_len;
    l->record.path = put(&p, r->path, path_len);
    l->record.env = put(&p, r->env, r->env_len);
    l->end = apr_time_now();
    return l;
}

void access_log_write(const access_log_record *record)
{
    line *l = copy(record);

    if (!l) {
        ap_log_error(APLOG_MARK, APLOG_ERR, APR_ENOMEM, record->server,
                     "FixedStatic: a line of the access log is lost");
        access_log_cancel();
        return;
    }
    pthread_mutex_lock(&logger.lock);
    if (logger.last) {
        logger.last->next = l;
    }
    else {
        logger.first = l;
    }
    logger.last = l;
    if (logger.asleep) {
        logger.asleep = 0;
        pthread_cond_signal(&logger.wanted);
    }
    pthread_mutex_unlock(&logger.lock);
}

void access_log_stop(void)
{
    apr_status_t rv;

    if (!logger.running) {
        return;
    }
    logger.running = 0;
    pthread_mutex_lock(&logger.lock);
    logger.stop = 1;
    pthread_cond_signal(&logger.wanted);
    pthread_mutex_unlock(&logger.lock);
    apr_thread_join(&rv, logger.thread);
}
