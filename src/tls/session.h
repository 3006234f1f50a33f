/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session: the loop's half of a TLS connection whose handshake mod_ssl has
 * made: reads and writes records with BIOs of its own, one receive and one send
 * for many records. What the caller sees behaves like a socket. The SSL object
 * is one thread's at a time: whoever holds the connection. No httpd header is
 * needed.
 */
#ifndef CPUAFFINITY_SESSION_H
#define CPUAFFINITY_SESSION_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/* A record's bytes, and what it may have more than its text. */
#define SESSION_RECORD 16384
#define SESSION_OVERHEAD 512

/* session_recv() gives at most so many bytes. */
#define SESSION_MOST SESSION_RECORD

/* Longest name in a client's hello that is told apart; longest Host that a
 * connection remembers. */
#define SESSION_NAME 200
#define SESSION_HOST 255

typedef struct session {
    void *ssl;         /* SSL, mod_ssl's */
    void *rbio, *wbio; /* mod_ssl's, kept while the session has its own; NULL:
                          it is not the loop's */
    char *out;         /* records that the socket did not take; or NULL */
    size_t out_off;
    size_t out_len;
    char *raw; /* received and not decrypted; from malloc, or NULL */
    size_t raw_off;
    size_t raw_len;
    int ended;         /* 1: nothing more is to be read: an end, an error, or
                          what the loop does not answer */
    unsigned overhead; /* bytes of a record that are not its text */
    unsigned name_len; /* of the name in the hello; 0: none */
    char name[SESSION_NAME];
    unsigned host_len; /* of the Host of the last request that httpd answered
                          well: which of them it takes depends on the
                          handshake; 0: none */
    char host[SESSION_HOST];
} session;

/* Is it that Host, byte for byte? */
int session_is_host(const session *s, const char *host, size_t len);

/* Remembers one; a longer one is forgotten with the last. Whoever holds it. */
void session_set_host(session *s, const char *host, size_t len);

/* Makes the BIOs' methods. Main thread, before there are others. @return 0 or
 * -1 without memory */
int session_init(void);

/*
 * May the loop have it: is the handshake done, by a client without
 * certificate that is not asked for one, and nothing under way? Fills in the
 * name. The thread that holds the connection.
 */
int session_may_take(session *s);

/* Puts BIOs of ours in the place of mod_ssl's. The thread that holds the
 * connection; nothing was read from the socket that is not in the SSL object.
 * @return 0, or -1 without memory: as it was */
int session_take(session *s);

/* Puts mod_ssl's back. What is left of s->out is lost; s->raw is the caller's
 * to give to mod_ssl. The loop's half is over. */
void session_return(session *s);

/* Frees what is held. Any thread; the SSL object is mod_ssl's to free. */
void session_drop(session *s);

/*
 * Reads a record, as recv() does. More that was received with it is kept, in
 * which there is nothing to wait for: call it again (session_has_more). What
 * a record does to the connection is not known before its time: it may be an
 * end.
 * @param most bytes to be received; @a buf has room for SESSION_MOST
 * @return bytes; 0: the end or an error, which httpd will see as well; -1 with
 *         errno (EAGAIN). Loop thread
 */
ssize_t session_recv(session *s, int fd, void *buf, size_t most);

/* Is there more to be read without a receive? */
int session_has_more(const session *s);

/*
 * Writes as sendmsg() does: bytes that are taken may still wait for the socket
 * (session_is_pending), and nothing more is taken while they do.
 * @return bytes, fewer than there are: the socket is full; -1 with errno:
 *         EAGAIN or an error. Loop thread
 */
ssize_t session_send(session *s, int fd, const struct iovec *part, int parts);

/* Sends what waits. @return 0: nothing waits; -1 with errno, as above */
int session_flush(session *s, int fd);

/*
 * How many bytes of records an answer has when mod_ssl sends it: its first 8192
 * bytes are a record, and the file's that follow are read, 8000 at once.
 * (mod_ssl 2.4.71, as tested with each length.)
 * @param len of head and body
 */
int64_t session_wire(const session *s, int64_t len);

/* Bytes that wait. */
size_t session_pending(const session *s);

/* Says goodbye (close_notify), as far as the socket takes it. Loop thread. */
void session_end(session *s, int fd);

#endif
