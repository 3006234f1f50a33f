# SPDX-License-Identifier: Apache-2.0
"""unittest's tests told as TAP, so that prove runs Python tests beside the
others: a test file ends with tap.main()."""

import sys
import unittest


class Tap(unittest.TestResult):
    """One TAP line per test, what went wrong as comments behind it."""

    def __init__(self):
        super().__init__()
        self.bad = False

    def line(self, verdict, test, note=""):
        name = test.shortDescription() or test.id().partition(".")[2]
        print(f"{verdict} {self.testsRun} - {name}{note}", flush=True)

    def wrong(self, test, error):
        self.bad = True
        self.line("not ok", test)
        for line in self._exc_info_to_string(error, test).splitlines():
            print(f"# {line}", file=sys.stderr)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.line("ok", test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.line("ok", test, f" # SKIP {reason}")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.wrong(test, err)

    addError = addFailure

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            # unittest does not call addSuccess for its test then
            self.wrong(subtest, err)
            self.testsRun += 1


def main():
    """Runs the tests of __main__; the exit code says whether all passed."""
    result = Tap()
    suite = unittest.defaultTestLoader.loadTestsFromModule(
        sys.modules["__main__"])
    suite.run(result)
    print(f"1..{result.testsRun}")
    sys.exit(result.bad)
