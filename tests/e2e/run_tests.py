"""The runner of the Python tests: unittest with one short line per module and the totals that ./dev adds up."""
import os
import time
import unittest


class Result(unittest.TestResult):
    passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        print('skipped: %s: %s' % (test.id(), reason), flush=True)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        print('FAILED: %s\n%s' % (test.id(), self.failures[-1][1]), flush=True)

    def addError(self, test, err):
        super().addError(test, err)
        print('FAILED: %s\n%s' % (test.id(), self.errors[-1][1]), flush=True)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            print('FAILED: %s\n%s' % (subtest.id(), (self.failures if issubclass(err[0], test.failureException) else self.errors)[-1][1]), flush=True)


def chosen(suite, words):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from chosen(item, words)
        elif words in item.id():
            yield item


def run(folder, pattern, words):
    """Runs the tests of a folder, module by module, and prints the totals; returns the exit code."""
    loader = unittest.TestLoader()
    total = Result()
    for name in sorted(os.listdir(folder)):
        if not (name.startswith(pattern) and name.endswith('.py')):
            continue
        start, before = time.monotonic(), total.passed
        suite = unittest.TestSuite(chosen(loader.loadTestsFromName(name[:-3]), words))
        if suite.countTestCases() == 0:
            continue
        suite.run(total)
        total._previousTestClass = None  # or the next suite would tear the last class down once more
        print('%-14s %3d passed in %.1f s' % (name[:-3], total.passed - before, time.monotonic() - start), flush=True)
    failed = len(total.failures) + len(total.errors)
    print('%d passed, %d failed, %d skipped' % (total.passed, failed, len(total.skipped)))
    return 1 if failed else 0
