/* SPDX-License-Identifier: Apache-2.0 */
/*
 * response_lines: what httpd says of the connection in a head: whether it stays
 * open, and the lines about it. Pure, any thread. Internal to response.
 */
#ifndef CPUAFFINITY_RESPONSE_LINES_H
#define CPUAFFINITY_RESPONSE_LINES_H

#include <stddef.h>

#include "http/request.h"
#include "http/response_data.h"

/* The longest lines: two numbers of ten digits. */
#define RESPONSE_LINES 96

typedef struct response_lines {
    size_t len;
    char text[RESPONSE_LINES];
    const char *token; /* where a head announces a protocol, the Connection line
                        * there goes on with this; "": nothing */
    int keepalive;     /* 1: the connection stays open afterwards */
    int keepalives;    /* c->keepalives afterwards */
} response_lines;

/*
 * What ap_set_keepalive decides, and adds.
 * @param announces the head has "Connection: Upgrade"
 * @param ends 0: only the end of the connection ends the body
 */
void response_lines_say(const request *req, const response_connection *conn,
                        int announces, int ends, response_lines *says);

/* Puts the token into a head at @a at. @return its end, which was @a end */
char *response_lines_announce(char *at, char *end, const response_lines *says);

#endif
