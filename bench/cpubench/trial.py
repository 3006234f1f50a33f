# SPDX-License-Identifier: Apache-2.0
"""Does what a configuration promises happen in this build? Asked of a running
server, because directives may be accepted before they do anything."""

import http.client
import json
import ssl
import time

STATUS = "/cpuaffinity-status?json"


def get(connection, path):
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise http.client.HTTPException(f"{path}: status {answer.status}")
    return body


def connect(address, port, tls):
    if not tls:
        return http.client.HTTPConnection(address, port, timeout=5)
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return http.client.HTTPSConnection(address, port, timeout=5,
                                       context=context)


def loop_answers(address, port, tls=False, path="/1k.txt", limit=5.0):
    """Requests a file again and again until the loops have repeated an
    answer. Returns None then, else why it is thought that they never do."""
    end = time.monotonic() + limit
    asked = 0
    try:
        while time.monotonic() < end:
            connection = connect(address, port, tls)
            for _ in range(10):
                get(connection, path)
                asked += 1
                # lessons are learned between requests
                time.sleep(0.005)
            seats = json.loads(get(connection, STATUS))["seats"]
            connection.close()
            if any(seat.get("loop_hits") for seat in seats):
                return None
    except (OSError, ValueError, KeyError, http.client.HTTPException) as error:
        return f"its trial failed: {type(error).__name__}: {error}"
    return f"not built yet: the loops answered none of {asked} requests"
