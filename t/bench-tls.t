#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The bench over TLS: its own generators against a stock httpd with its
configuration and certificate."""

import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "lib"))
import benchtest  # noqa: E402
import tap  # noqa: E402
from cpubench import (contestants, load, scenarios, trial,  # noqa: E402
                      wrk)
from cpubench.server import BenchError, Ports  # noqa: E402

HTTPD = os.environ.get("HTTPD") or "/usr/sbin/apache2"


def shakes(site="https", resumed=False):
    return scenarios.Scenario("x", "x", "x", site=site, kind="handshakes",
                              connections=4, close=True, resumed=resumed)


class Tls(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="benchtest-", dir="/tmp")
        self.addCleanup(folder.cleanup)
        os.chmod(folder.name, 0o755)
        self.field = contestants.Field(benchtest.TOP, folder.name, Ports(),
                                       HTTPD, benchtest.BUILD)
        self.field.make_files({"1k.txt": 1024, "100k.txt": 102400})
        self.field.make_certificate()
        self.raw = os.path.join(folder.name, "raw.tsv")

    def start(self, site):
        """The tuned httpd, with few threads."""
        common = self.field.templates["httpd-common.conf"]
        for number in ("StartServers 8", "ThreadsPerChild 125",
                       "ThreadLimit 125", "MaxRequestWorkers 1000"):
            self.assertIn(number, common)
        self.field.templates["httpd-common.conf"] = \
            common.replace("StartServers 8", "StartServers 1").replace(
                "125", "25").replace("Workers 1000", "Workers 100")
        self.addCleanup(setattr, contestants, "all_children",
                        contestants.all_children)
        contestants.all_children = None
        server = self.field.start(
            next(c for c in contestants.table() if c.name == "tuned"), site)
        self.addCleanup(server.stop)
        return server

    def handshakes(self, server, scenario):
        return load.handshakes(scenario, server.port, 0.4, self.raw,
                               benchtest.BUILD)

    def check(self, site):
        server = self.start(site)
        seen = subprocess.run(
            ["openssl", "s_client", "-connect", f"127.0.0.1:{server.port}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True,
            stderr=subprocess.DEVNULL, text=True, timeout=20).stdout
        self.assertRegex(seen, f"New, {scenarios.TLS[site]}, Cipher is "
                         r".*AES(_)?128_?-?GCM")
        self.assertIn("id-ecPublicKey", subprocess.run(
            ["openssl", "x509", "-noout", "-text"], input=seen, check=True,
            stdout=subprocess.PIPE, text=True, timeout=20).stdout)
        for resumed in (False, True):
            got = self.handshakes(server, shakes(site, resumed))
            self.assertEqual(got.errors, {}, f"{site}, resumed: {resumed}")
            self.assertGreater(got.requests, 0)
            self.assertGreater(got.bytes, 1024 * got.requests)
            self.assertEqual(got.requests, len(
                benchtest.slurp(self.raw).splitlines()))
        return server

    def test_version_1_2(self):
        self.check("https12")

    def test_version_1_3(self):
        server = self.check("https")
        got, _, each = load.idle(
            scenarios.idle(20, 5, "x", rate=200, site="https"), server.port,
            0.5, self.raw, benchtest.BUILD, server)
        self.assertEqual(got.errors, {})
        self.assertGreater(got.requests, 0)
        self.assertIsNotNone(each)
        connection = trial.connect("127.0.0.1", server.port, True)
        self.addCleanup(connection.close)
        self.assertEqual(len(trial.get(connection, "/1k.txt")), 1024)

    def test_sessions_that_are_not_taken_are_errors(self):
        common = self.field.templates["httpd-common.conf"]
        self.field.templates["httpd-common.conf"] = common.replace(
            "SSLSessionCache shmcb:ssl_scache(512000)",
            "SSLSessionCache none\n    SSLSessionTickets off")
        got = self.handshakes(self.start("https12"), shakes("https12", True))
        self.assertGreater(got.errors["errored"], 0)
        self.assertEqual(got.requests, 0)

    def test_no_server_is_an_error_of_the_run(self):
        port = benchtest.free_port()
        for resumed in (False, True):
            got = load.handshakes(shakes(resumed=resumed), port, 0.3,
                                  self.raw, benchtest.BUILD)
            self.assertTrue(got.errors)

    def test_no_certificate_is_told(self):
        self.field.root = os.path.join(self.field.root, "nothing")
        with self.assertRaisesRegex(BenchError, "no certificate: "):
            self.field.make_certificate()


class Scenarios(unittest.TestCase):
    def test_schemes(self):
        secure = next(s for s in scenarios.full_list()
                      if s.name == "https-1k-ka")
        self.assertEqual(wrk.argv(secure, 7, 1)[-1],
                         "https://127.0.0.1:7/1k.txt")
        argv, _ = load.h2load_argv(secure, 7, [], "raw", "", None)
        self.assertEqual(argv[-1], "https://127.0.0.1:7/1k.txt")
        plain = scenarios.static("1k.txt", 1)
        self.assertEqual(load.h2load_argv(plain, 7, [], "raw", "", None)[0][-1],
                         "http://127.0.0.1:7/1k.txt")

    def test_who_takes_part(self):
        """the untuned httpd beside the tuned one, where it maps files"""
        tuned = next(c for c in contestants.table() if c.name == "tuned")
        stock = next(c for c in contestants.table() if c.name == "stock")
        for every in (scenarios.full_list(), scenarios.quick_list()):
            both = [s for s in every if tuned.enters(s)]
            self.assertEqual({s.site for s in both} - {"gzip"},
                             {"https", "https12"})
            self.assertTrue(all(stock.enters(s) for s in both))
            self.assertEqual([s.name for s in every if s.scheme == "https"
                              and not tuned.enters(s)], [])

    def test_a_build_without_tls(self):
        own = next(c for c in contestants.table() if c.name == "fixedstatic")
        own.without["https"] = "not in this build"
        entered = {s.site for s in scenarios.full_list() if own.enters(s)}
        self.assertNotIn("https", entered)
        self.assertLessEqual({"https12", "static"}, entered)


if __name__ == "__main__":
    tap.main()
