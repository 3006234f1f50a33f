/* SPDX-License-Identifier: Apache-2.0 */
#include "http/response_lines.h"

#include "http/put.h"

void response_lines_say(const request *req, const response_connection *conn,
                        int announces, int ends, response_lines *says)
{
    int left = conn->max - conn->keepalives;
    char *p = says->text;

    says->keepalive = conn->keep_alive && conn->timeout > 0
                      && (conn->max == 0 || left > 0) && !req->close
                      && (req->keep_alive || req->minor == 1) && !conn->stopping
                      && ends;
    says->keepalives = conn->keepalives;
    if (!says->keepalive) {
        if (conn->max && left == 0) {
            says->keepalives++;
        }
        says->token = ", close";
        p = announces ? p : PUT(p, "Connection: close\r\n");
        says->len = (size_t)(p - says->text);
        return;
    }
    says->keepalives++;
    if (!req->keep_alive) {
        says->token = "";
        says->len = 0;
        return;
    }
    says->token = ", Keep-Alive";
    p = PUT(p, "Keep-Alive: timeout=");
    p = put_number(p, (int)(conn->timeout / 1000000));
    if (conn->max) {
        p = PUT(p, ", max=");
        p = put_number(p, left);
    }
    p = announces ? PUT(p, "\r\n") : PUT(p, "\r\nConnection: Keep-Alive\r\n");
    says->len = (size_t)(p - says->text);
}

char *response_lines_announce(char *at, char *end, const response_lines *says)
{
    size_t len = strlen(says->token);

    memmove(at + len, at, (size_t)(end - at));
    memcpy(at, says->token, len);
    return end + len;
}
