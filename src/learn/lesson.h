/*
 * lesson: how the loop learns from httpd. A note says what the recogniser
 * made of a request that httpd is about to answer; it travels through the
 * door, or is attached where a worker peeked, and is good for exactly the
 * next request of its connection (R0 of LEARNING.md). A lesson is what came
 * of it: an answer that may be repeated, or why it may not. Workers post
 * lessons; the loop's thread takes them.
 */
#ifndef CPUAFFINITY_LESSON_H
#define CPUAFFINITY_LESSON_H

#include "httpd.h"

#include <sys/stat.h>

#include "http/response.h"
#include "http/request.h"

/* So many lessons wait for the loop; further ones are lost, which only costs
 * speed. */
#define LESSON_ROOM 1024

/* Why httpd is asked. */
typedef enum lesson_ask {
    LESSON_NEW,   /* the loop cannot answer */
    LESSON_AUDIT, /* it could: the answers are compared */
    LESSON_AGAIN  /* it could, but its answer is getting old */
} lesson_ask;

/* A request that is mine, and that httpd is asked to answer. */
typedef struct lesson_note {
    request req;    /* slices count from lesson_note_head() */
    uint64_t vary;  /* the mask that the key was made with */
    int64_t made;   /* CLOCK_MONOTONIC ms */
    int keepalives; /* answered on the connection before it */
    uint8_t first;  /* it is the first request of its connection */
    uint8_t ask;    /* lesson_ask */
    uint16_t key_len;
    unsigned char bytes[]; /* the key, then the head (req.consumed bytes) */
} lesson_note;

static inline const char *lesson_note_head(const lesson_note *n)
{
    return (const char *)n->bytes + n->key_len;
}

/*
 * A note, from malloc; free() frees it (a parcel's drop_note). Any thread.
 * @param head the bytes that @a req was recognised in; copied
 * @param key of request_key(), made with @a vary; copied
 * @return NULL without memory
 */
lesson_note *lesson_note_make(const request *req, const char *head,
                              const unsigned char *key, size_t key_len,
                              uint64_t vary, int keepalives, int first,
                              lesson_ask ask, int64_t now);

/* Gives the next request of @a c a note, which is owned by the connection
 * from now on. A note that was not used is dropped. The worker serving c. */
void lesson_attach(conn_rec *c, lesson_note *note);

/* The note of a request that has just been created, once: a second call for
 * the same connection gives NULL until another note is attached. It stays the
 * connection's: valid as long as the request. create_request only. */
const lesson_note *lesson_take(conn_rec *c);

/* 1 while a note waits for the next request of @a c. The worker serving c. */
int lesson_waits(conn_rec *c);

/* The next request of @a c was seen in its socket, and left there; was it?
 * Once. The worker serving c. */
void lesson_see(conn_rec *c);
int lesson_seen(conn_rec *c);

/* The request of @a note was answered by what the loop may repeat. The worker
 * serving c. */
void lesson_taught(conn_rec *c, const lesson_note *note);

/* The last one that was taught on @a c, once; NULL: none, or another note
 * has come since. It is the connection's. The worker serving c. */
const lesson_note *lesson_last(conn_rec *c);

/* The virtual host whose times count for the request that @a c has now, and
 * while the connection idles after it: its own, or if that has none, the first
 * one of the address; and that of its last request, NULL: it had none. The
 * worker serving c. */
void lesson_set_host(conn_rec *c, const server_rec *s);
const server_rec *lesson_host(conn_rec *c);

typedef enum lesson_kind {
    LESSON_ANSWER, /* everything is filled in */
    LESSON_WIDEN,  /* its Vary names fields that are not in the key: only key
                      and vary are filled in */
    LESSON_REFUSED /* may not be repeated: key, path, reason, status and
                      server.server. Posted only when the loop could have
                      answered, and would have been wrong; learn has counted
                      it */
} lesson_kind;

/* What is to be known of the vhost that answered: response_connection's. */
typedef struct lesson_server {
    const server_rec *server;
    int keep_alive;             /* 0, 1 */
    int keep_alive_max;         /* 0: no limit */
    int64_t keep_alive_timeout; /* microseconds, as its answers tell it */
    int64_t idle;               /* microseconds, as they count */
    int64_t timeout; /* microseconds for the client to take something */
    int no_sendfile; /* 1: EnableSendfile and EnableMMAP forbid it */
} lesson_server;

typedef struct lesson {
    struct lesson *next;
    uint8_t kind;    /* lesson_kind */
    uint8_t ask;     /* as in the note */
    int reason;      /* reason_id, of LESSON_REFUSED; see learn.h */
    int status;      /* that was sent */
    uint64_t mask;   /* fields that the key was made with */
    uint64_t vary;   /* bits of the fields that the answer's Vary names */
    int64_t when;    /* CLOCK_MONOTONIC ms, when httpd made the answer */
    response answer; /* its head points behind the path */
    struct stat st;  /* of the descriptor that httpd sent */
    lesson_server server;
    uint16_t key_len;
    const unsigned char *key; /* the three point into this allocation */
    const char *path;         /* absolute */
} lesson;

/*
 * A lesson for the note's key, from malloc, otherwise empty.
 * @param a with its head, copied; or NULL
 * @param path copied; or NULL
 * @return NULL without memory
 */
lesson *lesson_make(const lesson_note *note, lesson_kind kind,
                    const response *a, const char *path);

/* Gives a lesson to the loop of this process and wakes it up, and tells the
 * other processes (notice); dropped when too many wait or there is no loop.
 * Any worker. */
void lesson_post(lesson *l);

/* The next lesson or NULL; lesson_free() it. The loop's thread. */
lesson *lesson_next(void);
void lesson_free(lesson *l);

/* Frees all that wait and takes no more. When the loop's thread ends. */
void lesson_close(void);

#endif
