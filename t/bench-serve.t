#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""bench/serve, told to end, leaves no server behind."""

import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "lib"))
import benchtest  # noqa: E402
import tap  # noqa: E402


class Serve(unittest.TestCase):
    def test_ends_with_its_server(self):
        mark = benchtest.Marked()
        serve = subprocess.Popen(
            [f"{benchtest.TOP}/bench/serve", "fixedstatic", "--port", "0",
             "--build", benchtest.BUILD], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, env=mark.environ())
        self.addCleanup(serve.kill)
        self.assertRegex(serve.stdout.readline(), r"^httpd fixed \+ static "
                         r".* on http://127.0.0.1:\d+$")
        self.assertGreater(len(mark.left()), 1, "it has a server")
        serve.terminate()
        self.assertEqual(serve.wait(30), 143)
        serve.stdin.close()
        serve.stdout.close()
        self.assertTrue(benchtest.wait_for(lambda: not mark.left(), 10),
                        mark.left())


if __name__ == "__main__":
    tap.main()
