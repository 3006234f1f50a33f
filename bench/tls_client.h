/* SPDX-License-Identifier: Apache-2.0 */
/* TLS for the bench's own load generators. They believe every certificate:
 * what checking a chain costs them is not the server's. */
#ifndef BENCH_TLS_CLIENT_H
#define BENCH_TLS_CLIENT_H

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/types.h>

/* A context for all connections, with ALPN http/1.1; the version and the
 * cipher are the server's choice. @return NULL without memory */
static inline SSL_CTX *tls_client_context(void)
{
    static const unsigned char http11[] = "\x08http/1.1";
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());

    if (ctx) {
        SSL_CTX_set_verify(ctx, SSL_VERIFY_NONE, NULL);
        SSL_CTX_set_alpn_protos(ctx, http11, sizeof(http11) - 1);
        /* an idle connection is small here too */
        SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
    }
    return ctx;
}

/* A connection over the descriptor @a fd that has still to shake hands.
 * @return NULL without memory */
static inline SSL *tls_client_new(SSL_CTX *ctx, int fd)
{
    SSL *ssl = SSL_new(ctx);

    if (ssl && SSL_set_fd(ssl, fd)) {
        SSL_set_connect_state(ssl);
        return ssl;
    }
    SSL_free(ssl);
    return NULL;
}

/* What a call of OpenSSL's returned, as recv() and send() say it: bytes, 0 at
 * the end of the connection, -1 with errno, EAGAIN when it has to wait; then
 * @a wants_out tells for what. */
static inline ssize_t tls_result(SSL *ssl, int n, int *wants_out)
{
    int why = SSL_get_error(ssl, n);

    *wants_out = why == SSL_ERROR_WANT_WRITE;
    if (n > 0) {
        return n;
    }
    ERR_clear_error();
    switch (why) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
        errno = EAGAIN;
        return -1;
    case SSL_ERROR_ZERO_RETURN:
        return 0;
    default:
        errno = EPROTO;
        return -1;
    }
}

#endif
