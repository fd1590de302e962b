"""A recording named like a formula, which a spreadsheet would run when a user opens a list that was exported as CSV."""
import csv
import io

from harness import API, Case, Server
from samples import bag, lab_messages

NAMES = ['=cmd|calc!A1', '+1+1', '-2+3', '@SUM(A1)']


class Formulas(Case):
    def fill_names(self, server):
        for salt, name in enumerate(NAMES):
            server.added(name, bag(lab_messages(1, salt=salt)))

    def names(self, server):
        text = server.get(API + '/recordings?output=csv').body.decode()
        return sorted(row['name'] for row in csv.DictReader(io.StringIO(text)))

    def test_lists(self):
        self.fill_names(self.server)
        self.assertEqual(self.names(self.server), sorted("'" + name for name in NAMES))
        self.assertEqual(sorted(item['name'] for item in self.get(API + '/recordings').json()['items']), sorted(NAMES))

    def test_as_they_are(self):
        server = Server(None, '--csv-raw')
        self.addCleanup(server.stop)
        self.fill_names(server)
        self.assertEqual(self.names(server), sorted(NAMES))

    def test_numbers_are_no_formulas(self):
        ident = self.server.added('n.bag', bag(lab_messages(1)), collection='numbers')
        text = self.get('%s/recordings/%s/as/x.csv?topic=/odom' % (API, ident)).body.decode()
        self.assertIn(',-1', text)
        self.assertNotIn("'", text)
