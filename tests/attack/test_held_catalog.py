"""Another process holds the catalog's write lock: a request is asked to come again, and nothing is reported as broken."""
import os
import sqlite3

from harness import API, Case, eventually, files_below, in_a_file
from samples import bag, lab_messages


@in_a_file
class HeldCatalog(Case):
    @classmethod
    def fill(cls):
        cls.id = cls.server.added('a.bag', bag(lab_messages(1)))

    def test_503_and_when_to_come_again(self):
        catalog = next(path for path in files_below(self.server.data) if os.path.basename(path).startswith('catalog') and path.endswith(('.db', '.sqlite')))
        holder = sqlite3.connect(catalog, isolation_level=None)
        self.addCleanup(holder.close)
        eventually(lambda: self.get('%s/recordings/%s' % (API, self.id)).json()['state'] == 'ready')
        holder.execute('BEGIN IMMEDIATE')
        path = '%s/recordings/%s/tags/robot' % (API, self.id)
        answer = self.server.request('PUT', path, 'r1')
        self.assertProblem(answer, 503, '/problems/busy')
        self.assertTrue(int(answer.headers['Retry-After']) > 0)
        self.get(API + '/recordings')  # readers do not wait
        holder.execute('ROLLBACK')
        self.assertIn(self.server.request('PUT', path, 'r1').status, (200, 201, 204))
