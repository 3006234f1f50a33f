#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The bench has a loopback with the congestion control that is asked for, or
says why not and goes on."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "lib"))
import benchtest  # noqa: E402
import tap  # noqa: E402

REFUSED = r"(?m)^bench: no network namespace with \w+, so .*machine's"


class Congestion(benchtest.BenchCase):
    def control(self, name):
        """(output, what its connections had)"""
        code, text = self.bench("--contestants", "stock", "--rounds", 1,
                                "--only", "static-1k-ka-c10$", "--seconds",
                                0.3, "--congestion", name)
        self.assertEqual(code, 0, text)
        return text, self.results()["machine"]["congestion_control"]

    def test_congestion_control(self):
        """the machine's, another one, and one that does not exist"""
        own = self.control("system")[1]
        self.assertRegex(own, r"^\w+$")
        other = "cubic" if own == "reno" else "reno"
        text, name = self.control(other)
        if "no network namespace" in text:
            self.assertRegex(text, REFUSED)
            self.assertEqual(name, own)
        else:
            self.assertEqual(name, other)
        text, name = self.control("nonesuch")
        self.assertRegex(text, REFUSED)
        self.assertEqual(name, own)


if __name__ == "__main__":
    tap.main()
