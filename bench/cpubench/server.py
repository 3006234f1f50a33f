# SPDX-License-Identifier: Apache-2.0
"""One server process under test: start, wait until it answers, stop by pid.

Every server runs in the foreground as our child, in a process group of its
own (so that Ctrl-C reaches us alone) and with a root of its own below the
bench's temporary directory.
"""

import os
import signal
import socket
import subprocess
import time

from . import procs


class BenchError(Exception):
    """Something the person at the terminal has to know, in one sentence."""


def port_is_free(port, address="127.0.0.1"):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError:
            return False
    # SO_REUSEADDR hides nobody who listens, but one with SO_REUSEPORT may
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex((address, port)) != 0


class Ports:
    """Deals ports: those from base on, or free ones when base is 0."""

    def __init__(self, base=0):
        self.fixed = bool(base)
        self.next = base or 21000 + os.getpid() * 37 % 8000

    def take(self, who, address="127.0.0.1"):
        while True:
            port = self.next
            self.next += 1
            if port_is_free(port, address):
                return port
            if self.fixed:
                raise BenchError(
                    f"port {port} for {who} is in use: stop what listens "
                    "there, or choose another range with --port")


class Server:
    """argv runs in the foreground; ready(server) is true when it is up."""

    def __init__(self, name, argv, root, port, ready=None, limit=20,
                 address="127.0.0.1"):
        self.address = address
        self.name = name
        self.argv = argv
        self.root = root
        self.port = port
        self.ready = ready
        self.limit = limit
        self.process = None

    @property
    def pid(self):
        return self.process.pid

    def start(self):
        self.output = os.path.join(self.root, "output.log")
        with open(self.output, "ab") as out:
            try:
                self.process = subprocess.Popen(
                    self.argv, stdin=subprocess.DEVNULL, stdout=out,
                    stderr=out, start_new_session=True, cwd=self.root)
            except OSError as error:
                raise BenchError(f"{self.name}: cannot run {self.argv[0]}: "
                                 f"{error.strerror}") from error
        end = time.monotonic() + self.limit
        while time.monotonic() < end:
            if self.process.poll() is not None:
                code = self.process.returncode
                self.process = None
                raise BenchError(f"{self.name} ended at start "
                                 f"(code {code}): {self.complaint()}")
            if self._answers() and (not self.ready or self.ready(self)):
                return self
            time.sleep(0.05)
        self.stop()
        raise BenchError(f"{self.name} does not answer on port {self.port} "
                         f"after {self.limit} s: {self.complaint()}")

    def _answers(self):
        with socket.socket() as probe:
            probe.settimeout(1)
            return probe.connect_ex((self.address, self.port)) == 0

    def complaint(self):
        """The last lines that it wrote, for the message."""
        text = ""
        for name in ("output.log", "error.log"):
            path = os.path.join(self.root, name)
            text += procs.slurp(path).decode(errors="replace")
        lines = [line for line in text.splitlines() if line.strip()]
        return " / ".join(lines[-3:]) or "it said nothing"

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def stop(self):
        """TERM, and KILL to what is left of its tree after 10 seconds."""
        if self.process is None:
            return
        family = procs.tree(self.process.pid)
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        for pid in family:
            # only if it is still of our session: the pid may be another's
            try:
                if os.getsid(pid) == self.process.pid:
                    os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process = None
