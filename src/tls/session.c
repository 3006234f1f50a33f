/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "tls/libssl.h"

/* What mod_ssl puts into a record: the first bytes of an answer, and what is
 * read of a file at once. */
#define FIRST 8192
#define PIECE 8000

/* Plain bytes that are encrypted before they are sent: so much may have to
 * wait for a slow client. */
#define AHEAD ((size_t)(4 * SESSION_RECORD))

/*
 * The loop's thread alone reads and writes sessions, one at a time: their
 * BIOs share two buffers. When a function has ended both are empty.
 */
static struct {
    const char *at; /* received and not decrypted */
    size_t len;
    char in[SESSION_RECORD + SESSION_OVERHEAD];
    size_t out_len;
    char out[AHEAD + AHEAD / 4]; /* a client may ask for short records */
    char record[SESSION_RECORD];
} io;

static BIO_METHOD *reader;
static BIO_METHOD *writer;

#define RETRY (BIO_FLAGS_RWS | BIO_FLAGS_SHOULD_RETRY)

static int create(BIO *b)
{
    libssl.BIO_set_init(b, 1);
    return 1;
}

/* Never at the end: that is left to be read by httpd. */
static int read_some(BIO *b, char *buf, int size)
{
    size_t n = (size_t)size < io.len ? (size_t)size : io.len;

    libssl.BIO_clear_flags(b, RETRY);
    if (!n) {
        libssl.BIO_set_flags(b, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY);
        return -1;
    }
    memcpy(buf, io.at, n);
    io.at += n;
    io.len -= n;
    return (int)n;
}

static int write_all(BIO *b, const char *buf, int len)
{
    size_t n = (size_t)len;

    libssl.BIO_clear_flags(b, RETRY);
    if (n > sizeof(io.out) - io.out_len) {
        return -1; /* an error: more than was reckoned with */
    }
    memcpy(io.out + io.out_len, buf, n);
    io.out_len += n;
    return len;
}

static long control(BIO *b, int command, long number, void *data)
{
    return command == BIO_CTRL_FLUSH;
}

int session_init(void)
{
    if (reader && writer) {
        return 0;
    }
    reader = libssl.BIO_meth_new(
        libssl.BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "cpuaffinity in");
    writer = libssl.BIO_meth_new(
        libssl.BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "cpuaffinity out");
    if (!reader || !writer) {
        return -1;
    }
    libssl.BIO_meth_set_create(reader, create);
    libssl.BIO_meth_set_read(reader, read_some);
    libssl.BIO_meth_set_ctrl(reader, control);
    libssl.BIO_meth_set_create(writer, create);
    libssl.BIO_meth_set_write(writer, write_all);
    libssl.BIO_meth_set_ctrl(writer, control);
    return 0;
}

/* @return 0: not known; such a connection stays httpd's */
static unsigned overhead(const SSL *ssl)
{
    const SSL_CIPHER *cipher = libssl.SSL_get_current_cipher(ssl);
    int nid = cipher ? libssl.SSL_CIPHER_get_cipher_nid(cipher) : NID_undef;

    if (libssl.SSL_version(ssl) == TLS1_3_VERSION) {
        return 5 + 1 + 16; /* header, type, tag */
    }
    switch (nid) {
    case NID_aes_128_gcm:
    case NID_aes_256_gcm:
        return 5 + 8 + 16; /* header, nonce, tag */
    case NID_chacha20_poly1305:
        return 5 + 16;
    default:
        return 0;
    }
}

int64_t session_wire(const session *s, int64_t len)
{
    int64_t rest = len > FIRST ? len - FIRST : 0;

    return len + (1 + (rest + PIECE - 1) / PIECE) * (int64_t)s->overhead;
}

int session_may_take(session *s)
{
    SSL *ssl = s->ssl;
    const char *name;

    s->overhead = overhead(ssl);
    if (!s->overhead
        /* A client that asks for short records. */
        || libssl.SSL_SESSION_get_max_fragment_length(
            libssl.SSL_get_session(ssl))) {
        return 0;
    }

    if (!libssl.SSL_is_init_finished(ssl) || libssl.SSL_in_init(ssl)
        || libssl.SSL_get_shutdown(ssl)
        || libssl.SSL_get_verify_mode(ssl) != SSL_VERIFY_NONE
        /* It is so again after a renegotiation for one directory. */
        || libssl.SSL_get0_peer_certificate(ssl)
        || libssl.SSL_renegotiate_pending(ssl)) {
        return 0;
    }
    name = libssl.SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    if (name && strlen(name) > SESSION_NAME) {
        return 0;
    }
    s->name_len = name ? (unsigned)strlen(name) : 0;
    memcpy(s->name, name ? name : "", s->name_len);
    return 1;
}

int session_is_host(const session *s, const char *host, size_t len)
{
    return len && len == s->host_len && !memcmp(host, s->host, len);
}

void session_set_host(session *s, const char *host, size_t len)
{
    s->host_len = len <= SESSION_HOST ? (unsigned)len : 0;
    memcpy(s->host, host, s->host_len);
}

int session_take(session *s)
{
    BIO *r = libssl.BIO_new(reader), *w = libssl.BIO_new(writer);

    if (!r || !w) {
        libssl.BIO_free(r);
        libssl.BIO_free(w);
        errno = ENOMEM;
        return -1;
    }
    s->rbio = libssl.SSL_get_rbio(s->ssl);
    s->wbio = libssl.SSL_get_wbio(s->ssl);
    libssl.BIO_up_ref(s->rbio);
    libssl.BIO_up_ref(s->wbio);
    libssl.SSL_set0_rbio(s->ssl, r);
    libssl.SSL_set0_wbio(s->ssl, w);
    s->ended = 0;
    return 0;
}

void session_return(session *s)
{
    if (s->rbio) {
        libssl.SSL_set0_rbio(s->ssl, s->rbio);
        libssl.SSL_set0_wbio(s->ssl, s->wbio);
        s->rbio = s->wbio = NULL;
    }
    free(s->out);
    s->out = NULL;
    s->out_off = s->out_len = 0;
}

void session_drop(session *s)
{
    /* The SSL object frees its own. */
    if (s->rbio) {
        libssl.BIO_free(s->rbio);
        libssl.BIO_free(s->wbio);
        s->rbio = s->wbio = NULL;
    }
    free(s->out);
    free(s->raw);
    s->out = s->raw = NULL;
}

size_t session_pending(const session *s)
{
    return s->out_len - s->out_off;
}

int session_flush(session *s, int fd)
{
    while (session_pending(s)) {
        ssize_t n = send(fd, s->out + s->out_off, session_pending(s),
                         MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return -1;
        }
        s->out_off += (size_t)n;
    }
    free(s->out);
    s->out = NULL;
    s->out_off = s->out_len = 0;
    return 0;
}

/* Sends what the BIO was given; what the socket does not take waits. 0 or -1
 * with errno, not EAGAIN */
static int send_records(session *s, int fd)
{
    size_t done = 0, len = io.out_len;

    io.out_len = 0;
    while (done < len) {
        ssize_t n =
            send(fd, io.out + done, len - done, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0 && errno != EAGAIN) {
            return -1;
        }
        if (n < 0) {
            break;
        }
        done += (size_t)n;
    }
    if (done < len) {
        s->out = malloc(len - done);
        if (!s->out) {
            errno = ENOMEM;
            return -1;
        }
        memcpy(s->out, io.out + done, len - done);
        s->out_off = 0;
        s->out_len = len - done;
    }
    return 0;
}

/* What is still to be written. */
typedef struct source {
    const struct iovec *part;
    int parts;
    size_t off; /* in the first of them */
} source;

static size_t rest_of(const source *in)
{
    return in->part->iov_len - in->off;
}

/* Goes on by @a n bytes, to the next part that has some. */
static void advance(source *in, size_t n)
{
    in->off += n;
    while (in->parts && in->off == in->part->iov_len) {
        in->part++;
        in->parts--;
        in->off = 0;
    }
}

/* The bytes of the next record: copied together, unless one part fills it or
 * is the last. @return its length */
static size_t gather(source *in, const char **record)
{
    size_t len = 0;

    if (rest_of(in) >= SESSION_RECORD || in->parts == 1) {
        *record = (const char *)in->part->iov_base + in->off;
        len = rest_of(in) < SESSION_RECORD ? rest_of(in) : SESSION_RECORD;
        advance(in, len);
        return len;
    }
    *record = io.record;
    while (in->parts && len < SESSION_RECORD) {
        size_t n = rest_of(in) < SESSION_RECORD - len ? rest_of(in)
                                                      : SESSION_RECORD - len;

        memcpy(io.record + len, (const char *)in->part->iov_base + in->off, n);
        len += n;
        advance(in, n);
    }
    return len;
}

/* Encrypts some of it. @return bytes, or -1 */
static ssize_t encrypt(session *s, source *in)
{
    size_t done = 0;

    while (in->parts && done < AHEAD) {
        const char *record;
        size_t n = gather(in, &record);

        libssl.ERR_clear_error();
        if (libssl.SSL_write(s->ssl, record, (int)n) != (int)n) {
            libssl.ERR_clear_error();
            io.out_len = 0;
            errno = EIO;
            return -1;
        }
        done += n;
    }
    return (ssize_t)done;
}

/* What a read gave, or why not, as recv() tells. */
static ssize_t result_of(session *s, int n)
{
    int error = n > 0 ? 0 : libssl.SSL_get_error(s->ssl, n);

    libssl.ERR_clear_error();
    if (error == SSL_ERROR_WANT_READ) {
        errno = EAGAIN;
        return -1;
    }
    /* The client's wish for new keys needs an answer of its own. */
    s->ended =
        n <= 0 || libssl.SSL_get_key_update_type(s->ssl) != SSL_KEY_UPDATE_NONE;
    return n > 0 ? n : 0;
}

/* Keeps what was received and not used. 0 or -1 */
static int keep_raw(session *s)
{
    if (s->raw) {
        s->raw_off = s->raw_len - io.len;
    }
    else if (io.len) {
        s->raw = malloc(io.len);
        if (!s->raw) {
            return -1;
        }
        memcpy(s->raw, io.at, io.len);
        s->raw_off = 0;
        s->raw_len = io.len;
    }
    if (s->raw && !io.len) {
        free(s->raw);
        s->raw = NULL;
    }
    io.len = 0;
    return 0;
}

/* @return as recv(): what there is to be decrypted */
static ssize_t receive(session *s, int fd, size_t most)
{
    ssize_t n;

    if (s->raw) {
        io.at = s->raw + s->raw_off;
        io.len = s->raw_len - s->raw_off;
        return (ssize_t)io.len;
    }
    do {
        n = recv(fd, io.in, most < sizeof(io.in) ? most : sizeof(io.in),
                 MSG_DONTWAIT);
    } while (n < 0 && errno == EINTR);
    io.at = io.in;
    io.len = n > 0 ? (size_t)n : 0;
    return n;
}

ssize_t session_recv(session *s, int fd, void *buf, size_t most)
{
    ssize_t n;

    if (s->ended) {
        return 0;
    }
    n = receive(s, fd, most);
    if (n <= 0) {
        return n;
    }
    libssl.ERR_clear_error();
    n = result_of(s, libssl.SSL_read(s->ssl, buf, SESSION_MOST));
    if (keep_raw(s)) {
        errno = ENOMEM;
        return -1;
    }
    /* An alert. That it arrives is not worth waiting. */
    if (io.out_len && send_records(s, fd)) {
        s->ended = 1;
    }
    return n;
}

int session_has_more(const session *s)
{
    return s->raw != NULL && !s->ended;
}

ssize_t session_send(session *s, int fd, const struct iovec *part, int parts)
{
    source in = {part, parts, 0};
    ssize_t taken = 0;

    if (session_flush(s, fd)) {
        return -1;
    }
    advance(&in, 0);
    while (in.parts && !session_pending(s)) {
        ssize_t n = encrypt(s, &in);

        if (n < 0 || send_records(s, fd)) {
            return -1;
        }
        taken += n;
    }
    return taken;
}

void session_end(session *s, int fd)
{
    if (session_flush(s, fd)) {
        return;
    }
    libssl.ERR_clear_error();
    libssl.SSL_shutdown(s->ssl);
    libssl.ERR_clear_error();
    send_records(s, fd);
}
