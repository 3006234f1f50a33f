/* SPDX-License-Identifier: Apache-2.0 */
/*
 * response_304: a 304 that httpd gave, to be repeated where the 200 does not
 * show how it looks: a filter's Vary is not in it, nor a filter's ETag. Pure,
 * no allocation, any thread; no httpd header is needed.
 */
#ifndef CPUAFFINITY_RESPONSE_304_H
#define CPUAFFINITY_RESPONSE_304_H

#include <stddef.h>

#include "http/request.h"
#include "http/response_data.h"
#include "http/response_lines.h"

/*
 * Takes a captured head apart.
 * @param head the bytes of a 304 from "HTTP/1.1" to the empty line, as httpd
 *        sent them
 * @param clocked 1: as with RESPONSE_CLOCKED
 * @param copy receives what is kept of it, at least @a len bytes; u->head
 *        points there
 * @param error on failure why it must not be repeated (static text)
 * @return 0 or -1
 */
int response_304_learn(response_304 *u, const char *head, size_t len,
                       int clocked, char *copy, const char **error);

/* 1 when response_304_make() gives for the very request that httpd answered, at
 * the second of its Date, the bytes that httpd sent. @a conn as it was before
 * that request. */
int response_304_is_exact(const response_304 *u, const request *req,
                          const response_connection *conn, const char *sent,
                          size_t sent_len);

/* Makes @a u a copy of @a from; its from->head_len bytes go to @a copy. */
void response_304_copy(response_304 *u, const response_304 *from, char *copy);

/* 1 when two captured ones agree, Date and connection lines aside. */
int response_304_is_same(const response_304 *a, const response_304 *b);

/* As response_is_later(). */
int response_304_is_later(const response_304 *a, const response_304 *b);

/* Writes the head: u->head_len + RESPONSE_LINES bytes at most.
 * @return its length */
size_t response_304_make(const response_304 *u, const response_clock *clock,
                         const response_lines *says, char *buf);

#endif
