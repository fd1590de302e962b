"""The runner of the Python tests: unittest with one short line per module and the totals that ./dev adds up."""
import contextlib
import functools
import io
import multiprocessing
import os
import resource
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
        print('FAILED: %s\n%s' % (type(test).id(test), self.failures[-1][1]), flush=True)

    def addError(self, test, err):
        super().addError(test, err)
        print('FAILED: %s\n%s' % (type(test).id(test), self.errors[-1][1]), flush=True)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            print('FAILED: %s\n%s' % (subtest.id(), (self.failures if issubclass(err[0], test.failureException) else self.errors)[-1][1]), flush=True)


def release_only(item):
    """Marks a test, or a class of them, that measures or waits: it runs with the release build and not under sanitizers."""
    item.release_only = True
    return item


def is_release_only(test):
    return getattr(test, 'release_only', False) or getattr(getattr(test, test._testMethodName), 'release_only', False)


def everything(test):
    return True


def chosen(suite, words, keep):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from chosen(item, words, keep)
        elif words in item.id() and (not hasattr(item, '_testMethodName') or keep(item)):
            yield item


def processor_seconds():
    """Of this process and all that it started and waited for: servers, browsers, curl."""
    return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def run_module(name, words, keep):
    """The tests of one module, in a process of their own: what they print, and how many passed, failed, were skipped."""
    total, start, out = Result(), time.monotonic(), io.StringIO()
    with contextlib.redirect_stdout(out):
        suite = unittest.TestSuite(chosen(unittest.TestLoader().loadTestsFromName(name), words, keep))
        if suite.countTestCases() > 0:
            suite.run(total)
            print('%-18s %3d passed in %.1f s, %.1f s of processor' % (name, total.passed, time.monotonic() - start, processor_seconds()))
    return out.getvalue(), total.passed, len(total.failures) + len(total.errors), len(total.skipped)


def run(folders, pattern, words, keep=everything):
    """Runs the tests of some folders, several modules at once since most wait most of the time, and prints the totals; returns the exit code."""
    found = [os.path.join(folder, name) for folder in folders for name in os.listdir(folder) if name.startswith(pattern) and name.endswith('.py')]
    names = [os.path.basename(path)[:-3] for path in sorted(found, key=os.path.getsize, reverse=True)]  # the longest last would be waited for
    totals = [0, 0, 0]
    with multiprocessing.get_context('fork').Pool(2 * os.cpu_count(), maxtasksperchild=1) as pool:
        for text, *counts in pool.imap_unordered(functools.partial(run_module, words=words, keep=keep), names):
            print(text, end='', flush=True)
            totals = [a + b for a, b in zip(totals, counts)]
    print('%d passed, %d failed, %d skipped' % tuple(totals))
    return 1 if totals[1] else 0
