/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libssl: the functions of OpenSSL that the loop needs, of the very library
 * that mod_ssl has loaded. The module does not link with it: without mod_ssl
 * there is none. No httpd header is needed.
 */
#ifndef CPUAFFINITY_LIBSSL_H
#define CPUAFFINITY_LIBSSL_H

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#define LIBSSL_LIST(X)                                                         \
    X(BIO_clear_flags)                                                         \
    X(BIO_free)                                                                \
    X(BIO_get_new_index)                                                       \
    X(BIO_meth_free)                                                           \
    X(BIO_meth_new)                                                            \
    X(BIO_meth_set_create)                                                     \
    X(BIO_meth_set_ctrl)                                                       \
    X(BIO_meth_set_read)                                                       \
    X(BIO_meth_set_write)                                                      \
    X(BIO_new)                                                                 \
    X(BIO_set_flags)                                                           \
    X(BIO_set_init)                                                            \
    X(BIO_up_ref)                                                              \
    X(ERR_clear_error)                                                         \
    X(OpenSSL_version_num)                                                     \
    X(SSL_CIPHER_get_cipher_nid)                                               \
    X(SSL_SESSION_get_max_fragment_length)                                     \
    X(SSL_ctrl)                                                                \
    X(SSL_get0_peer_certificate)                                               \
    X(SSL_get_current_cipher)                                                  \
    X(SSL_get_error)                                                           \
    X(SSL_get_key_update_type)                                                 \
    X(SSL_get_rbio)                                                            \
    X(SSL_get_servername)                                                      \
    X(SSL_get_session)                                                         \
    X(SSL_get_shutdown)                                                        \
    X(SSL_get_verify_mode)                                                     \
    X(SSL_get_wbio)                                                            \
    X(SSL_in_init)                                                             \
    X(SSL_is_init_finished)                                                    \
    X(SSL_read)                                                                \
    X(SSL_renegotiate_pending)                                                 \
    X(SSL_set0_rbio)                                                           \
    X(SSL_set0_wbio)                                                           \
    X(SSL_set_shutdown)                                                        \
    X(SSL_shutdown)                                                            \
    X(SSL_version)                                                             \
    X(SSL_write)

#define LIBSSL_MEMBER(name) __typeof__(name) *name;
typedef struct libssl_functions {
    LIBSSL_LIST(LIBSSL_MEMBER)
} libssl_functions;

/* All are set after libssl_load() has said 0; read-only then. */
extern libssl_functions libssl;

/*
 * Finds the functions among the libraries of this process. Main thread, before
 * there are others; again is harmless.
 * @return NULL, or why TLS is left to httpd: there is no libssl, it is of a
 *         version that was not tested, or lacks a function. Static text
 */
const char *libssl_load(void);

#endif
