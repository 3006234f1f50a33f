#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""When the bench cannot go on: one clear message, everything stopped, what
was measured is kept."""

import os
import signal
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "lib"))
import benchtest  # noqa: E402
import tap  # noqa: E402

ONE = ("--contestants", "stock", "--only", "static-1k-ka-c10$", "--seconds",
       "0.4")


class Failures(benchtest.BenchCase):
    def refused(self, pattern, *flags, **more):
        code, text = self.bench(*ONE, *flags, limit=30, **more)
        self.assertEqual(code, 1, text)
        self.assertRegex(text, pattern)
        self.assertNotIn("Traceback", text)

    def test_port_in_use(self):
        with socket.create_server(("127.0.0.1", 0)) as busy:
            port = busy.getsockname()[1]
            self.refused(f"(?m)^bench: port {port} for httpd is in use: ",
                         "--congestion", "system", "--port", port)

    def test_server_that_does_not_start(self):
        self.refused(r"ended at start \(code 1\)", "--httpd", "/bin/false")

    def test_no_generator(self):
        with tempfile.TemporaryDirectory() as empty:
            self.refused("h2load is missing: apt-get install nghttp2-client",
                         prefix=["/usr/bin/python3"],
                         env={**os.environ, "PATH": empty})

    def test_interrupted(self):
        """interrupted in the middle of the rounds"""
        mark = benchtest.Marked()
        log = os.path.join(self.out, "stderr")
        with open(log, "wb") as file:
            bench = subprocess.Popen(
                self.argv(*ONE, "--rounds", 90), stderr=file,
                stdout=subprocess.DEVNULL, env=mark.environ())
        self.addCleanup(bench.kill)
        self.assertTrue(benchtest.wait_for(
            lambda: "round 3 of" in benchtest.slurp(log), 60))
        self.assertIn("-DFOREGROUND", " ".join(mark.left().values()),
                      "its server is found by the mark")
        bench.send_signal(signal.SIGINT)
        self.assertEqual(bench.wait(60), 130)
        self.assertIn("interrupted; everything is stopped",
                      benchtest.slurp(log))
        results = self.results()
        self.assertFalse(results["complete"])
        self.assertEqual(results["ended_by"], "interrupted")
        self.assertGreaterEqual(len(results["scenarios"][0]["runs"]), 2,
                                "the runs before are kept")
        self.assertIn("Not complete: interrupted", self.report())
        # a generator that was just being started ends by itself
        self.assertTrue(benchtest.wait_for(lambda: not mark.left(), 15),
                        mark.left())


if __name__ == "__main__":
    tap.main()
