# SPDX-License-Identifier: Apache-2.0
"""The loopback that everything runs over: one of the bench's own, if it may.

On a machine whose connections take BBR, timers send what a server writes, at
a rate BBR estimates; on loopback there is no path to estimate, and which
process the sending is charged to changes from run to run. A network namespace
has a loopback of its own, and a route there names the congestion control, so
nobody else's connections are touched.
"""

import os
import shlex
import socket
import subprocess
import sys

SYSTEM = "system"
DEFAULT = "cubic"  # Linux's
IS_OWN = "BENCH_OWN_NETWORK"


def congestion_control():
    """What a connection over 127.0.0.1 takes; "?" where it cannot be told."""
    try:
        with socket.create_server(("127.0.0.1", 0)) as server, \
                socket.create_connection(server.getsockname(), 5) as client:
            name = client.getsockopt(socket.IPPROTO_TCP,
                                     socket.TCP_CONGESTION, 16)
    except OSError:
        return "?"
    return name.split(b"\0")[0].decode()


def commands(name):
    """Shell: sets up the loopback of a new namespace."""
    return ("ip link set lo up && ip route replace local 127.0.0.1 dev lo "
            f"table local scope host src 127.0.0.1 congctl {shlex.quote(name)}")


def enter(name):
    """Has the program start over with the congestion control @name, if its
    connections have another. Returns where that is not needed or, with a line
    that says so, not possible."""
    now = congestion_control()
    if name in (SYSTEM, now) or os.environ.get(IS_OWN):
        return
    unshare = ["unshare", "--net", "--", "sh", "-c"]
    try:
        trial = subprocess.run([*unshare, commands(name)], timeout=10,
                               stdin=subprocess.DEVNULL, text=True,
                               stdout=subprocess.PIPE, check=False,
                               stderr=subprocess.STDOUT)
        why = trial.stdout.strip() if trial.returncode else ""
        failed = trial.returncode != 0
    except (OSError, subprocess.TimeoutExpired) as error:
        why, failed = str(error), True
    if failed:
        print(f"bench: no network namespace with {name}, so connections have "
              f"this machine's congestion control, {now}: {why}",
              file=sys.stderr)
        return
    sys.stdout.flush()
    os.execvpe(unshare[0], [*unshare, commands(name) + ' && exec "$@"', "sh",
                            sys.executable, *sys.argv],
               {**os.environ, IS_OWN: "1"})
