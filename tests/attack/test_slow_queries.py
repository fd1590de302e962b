"""Queries that never end hold every reader of the catalog, again and again: whoever logs in does not wait for them, and each is ended."""
import contextlib
import re
import threading
import time
import unittest

from harness import API, Server, catalog_sql, eventually, in_a_file, reel
from run_tests import release_only

ENDLESS = '''CREATE VIEW saved AS WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n)
SELECT 'search' AS kind, '' AS collection, 'a' AS name, '{}' AS value, '' AS author, 0 AS created_ns, 0 AS updated_ns FROM n WHERE i < 0'''
CLIENTS = 24  # more than there are readers
ROUNDS = 20
DRAIN_S = 1


@release_only  # its work is SQLite's
@in_a_file
class SlowQueries(unittest.TestCase):
    def setUp(self):
        server = Server(None, '--drain', str(DRAIN_S))
        self.addCleanup(server.stop)
        made = reel('token', 'create', '--data', server.data, '--role', 'admin', '--name', 'reader').stdout.decode()
        catalog_sql(server.data, 'DROP TABLE saved')  # of what is saved there is nothing; a list of it now takes for ever
        catalog_sql(server.data, ENDLESS)
        self.token = {'Authorization': 'Bearer ' + re.search(r'reel_\S+', made).group(0)}
        self.server, self.answers, self.stopped = server, [], threading.Event()

    def ask_for_ever(self):
        while not self.stopped.is_set():
            self.answers.append(self.server.request('GET', API + '/searches', headers=self.token))

    def readers_are_held(self):
        try:
            self.server.request('GET', API + '/recordings', headers=self.token, timeout=1)
        except TimeoutError:
            return True
        return False

    def enter(self):
        """A login, the start of the page with its cookie, and what a load balancer asks."""
        login = self.server.request('POST', API + '/login', headers=self.token)
        self.assertEqual(login.status, 204, login)
        cookie = {'Cookie': login.headers['Set-Cookie'].split(';')[0], 'Sec-Fetch-Site': 'same-origin'}
        self.assertEqual(self.server.get(API, **cookie).json()['caller']['name'], 'reader')
        self.assertEqual(self.server.get(API, Authorization='Bearer reel_' + 43 * 'A').status, 401)
        for path in ('/readyz', '/healthz'):
            self.assertEqual(self.server.get(path).status, 200)

    def enter_while_no_query_ends(self):
        """Without connections of its own a login needs one that such a query gives back."""
        before = len(self.answers)
        self.enter()
        return len(self.answers) == before

    def test_logins_do_not_wait(self):
        clients = [threading.Thread(target=self.ask_for_ever) for _ in range(CLIENTS)]
        for client in clients:
            client.start()
        try:
            self.assertTrue(eventually(self.readers_are_held))
            self.assertTrue(any(self.enter_while_no_query_ends() for _ in range(ROUNDS)))
        finally:
            self.stopped.set()
            for client in clients:
                client.join()
        self.assertTrue(all(answer.status == 503 and answer.headers['Retry-After'] for answer in self.answers), self.answers)
        self.assertTrue(any('took longer than 10 s' in answer.json()['detail'] for answer in self.answers), self.answers)
        self.assertEqual(self.server.get(API + '/recordings', **self.token).status, 200)

    def test_the_server_stops_meanwhile(self):
        """Once it has waited for running requests (--drain), it does not wait for a query of ten seconds."""
        def ask():
            with contextlib.suppress(OSError):  # cut off, or answered 503
                self.server.request('GET', API + '/searches', headers=self.token)
        client = threading.Thread(target=ask)
        client.start()
        self.assertTrue(eventually(lambda: re.search(rb'^reel_http_connections 2$', self.server.get('/metrics', **self.token).body, re.M)))
        begun = time.monotonic()
        self.server.terminate()
        self.assertEqual(self.server.process.wait(60), 0)
        self.assertLess(time.monotonic() - begun, DRAIN_S + 6)
        client.join()
