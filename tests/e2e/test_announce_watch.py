"""reel push --watch --announce: the robot's side, over a link that is cut, with servers and robots that end in between."""
import json
import os
import signal

from harness import API, PATIENCE, Server, eventually, reel
from link import Link
from samples import bag, lab_messages
from test_push_watch import Watch as Base
from test_push_watch import sha256


class Announcing(Base):
    """The tests of the base class are not run again."""

    def rows(self, server=None):
        items = (server or self.server).get('%s/recordings?limit=200&collection=%s' % (API, self.collection)).json()['items']
        return {item['name']: item for item in items}

    def await_state(self, name, state, server=None):
        def row():
            found = self.rows(server).get(name)
            return found if found and found['state'] == state else None
        found = eventually(row)
        self.assertTrue(found, (name, state, self.rows(server)))
        return found

    def fetch(self, id, query='', server=None):
        answer = (server or self.server).request('POST', '%s/recordings/%s/fetch%s' % (API, id, query))
        self.assertEqual(answer.status, 202, answer)
        return answer.json()

    def asked(self, id):
        return self.get('%s/recordings/%s' % (API, id)).json()['announced']['fetches']

    def test_announces_first(self):
        """All are found before the first has arrived, and what users ask for comes next."""
        link = Link(self.server.port, rate=20_000)
        self.addCleanup(link.close)
        data = {'big%d.bag' % i: bag(lab_messages(1, blob=200_000, salt=4100 + i)) for i in range(3)}
        for i, name in enumerate(sorted(data)):
            os.utime(self.write(name, data[name]), (1_600_000_000 + i,) * 2)

        def sessions(n):
            self.assertTrue(eventually(lambda: sum(r.startswith('POST /api/v1/uploads') for r in link.requests) >= n), link.requests)
        agent = self.agent('--announce', '--robot', 'rover 7', '--still-time', '0', url=link.base)
        rows = {name: self.await_state(name, 'announced') for name in data}
        self.assertEqual({row['announced']['robot'] for row in rows.values()}, {'rover 7'})
        sessions(1)  # the oldest is being sent, for 100 s
        self.fetch(rows['big2.bag']['id'])
        sessions(2)  # it gives way to what was asked for; nothing else is more urgent
        data['late.bag'] = bag(lab_messages(1, blob=200_000, salt=4109))
        self.write('late.bag', data['late.bag'])
        self.await_state('late.bag', 'announced')  # while another one is being sent
        link.rate = None
        self.await_known(*data)
        self.assertEqual(self.stored(), {name: sha256(content) for name, content in data.items()})
        self.assertEqual({name: self.rows()[name]['id'] for name in rows}, {name: row['id'] for name, row in rows.items()})
        self.end(agent)

    def test_only_on_request(self):
        data = {name: bag(lab_messages(4, salt=4110 + i)) for i, name in enumerate(('a.bag', 'b.bag', 'c.bag'))}
        for name in data:
            self.write(name, data[name])
        agent = self.agent('--on-request', '--delete-after', '0')
        rows = {name: self.await_state(name, 'announced') for name in data}
        self.fetch(rows['b.bag']['id'])
        self.await_stored({'b.bag': sha256(data['b.bag'])})
        self.assertTrue(eventually(lambda: not os.path.exists(os.path.join(self.bags, 'b.bag'))))
        os.unlink(os.path.join(self.bags, 'c.bag'))
        asked = self.fetch(rows['c.bag']['id'])
        self.assertTrue(eventually(lambda: self.asked(rows['c.bag']['id'])[0]['state'] == 'failed'))
        self.assertEqual([(f['id'], f['problem']) for f in self.asked(rows['c.bag']['id'])], [(asked['id'], 'the file is no longer on this robot')])
        out, err = self.end(agent)
        self.assertEqual((out.count('announced as'), out.count('added as'), err), (3, 1, ''))
        self.assertEqual(sorted(os.listdir(self.bags)), ['a.bag'])
        agent = self.agent('--on-request')  # it knows what it has announced
        self.fetch(rows['a.bag']['id'])
        self.await_stored({name: sha256(data[name]) for name in ('a.bag', 'b.bag')})
        self.assertNotIn('announced as', self.end(agent)[0])

    def test_a_part(self):
        messages = lab_messages(10, salt=4120)
        self.write('run.bag', bag(messages))
        agent = self.agent('--on-request')
        row = self.await_state('run.bag', 'announced')
        self.fetch(row['id'], '?start=%2B2s&end=%2B4s')
        self.assertTrue(eventually(lambda: self.asked(row['id'])[0]['state'] != 'waiting'))
        asked = self.asked(row['id'])[0]
        self.assertEqual((asked['state'], asked['problem']), ('done', None))
        part = self.get('%s/recordings/%s' % (API, asked['result'])).json()
        self.assertEqual((part['name'], part['tags'], part['state']), ('run_2.0-4.0s.bag', {'cut_of': row['id']}, 'ready'))
        begin, end = int(asked['start_ns']), int(asked['end_ns'])
        times = [r['log_time'] for r in self.get('%s/recordings/%s/messages?output=ndjson&time_format=nanoseconds' % (API, part['id'])).rows() if 'log_time' in r]
        self.assertTrue(times and all(begin <= int(t) < end for t in times), times[:3])
        self.assertEqual(self.rows()['run.bag']['state'], 'announced')
        self.end(agent)
        self.assertEqual(sorted(os.listdir(self.folder)), ['bags', 'state'])  # nothing is left of it

    def test_users_rename_it_meanwhile(self):
        data = bag(lab_messages(3, salt=4130))
        self.write('run.bag', data)
        agent = self.agent('--on-request')
        row = self.await_state('run.bag', 'announced')
        renamed = self.server.request('PATCH', '%s/recordings/%s' % (API, row['id']), json.dumps({'name': 'fall/1.bag', 'tags': {'event': 'fall'}}), {'Content-Type': 'application/json'})
        self.assertEqual(renamed.status, 200, renamed)
        self.fetch(row['id'])
        self.await_stored({'fall/1.bag': sha256(data)})
        now = self.rows()['fall/1.bag']
        self.assertEqual((now['id'], now['tags']), (row['id'], {'event': 'fall'}))
        self.end(agent)

    def test_two_robots_with_one_name(self):
        data = [bag(lab_messages(2, salt=4140 + i)) for i in range(2)]
        agents = []
        for i in range(2):
            folder = os.path.join(self.folder, 'robot%d' % i)
            self.write('run.bag', data[i], folder)
            agents.append(self.agent('--announce', '--on-request', '--robot', 'twin', state='state%d' % i, folder=folder))
            self.assertTrue(eventually(lambda: len(self.rows()) == i + 1), self.rows())
        rows = self.rows()
        self.assertEqual(set(rows), {'run.bag', 'run-%.8s.bag' % sha256(data[1])})
        for row in rows.values():
            self.fetch(row['id'])
        self.await_stored({'run.bag': sha256(data[0]), 'run-%.8s.bag' % sha256(data[1]): sha256(data[1])})
        self.assertEqual({r['id'] for r in self.rows().values()}, {r['id'] for r in rows.values()})
        for agent in agents:
            self.end(agent)

    def test_two_folders_with_one_name(self):
        """Neither takes the other's place, nor does a part have the files of both."""
        data = [bag(lab_messages(2 + i, salt=4145 + i)) for i in range(2)]
        folders = [os.path.join(self.folder, 'cam%d' % i) for i in range(2)]
        for folder, content in zip(folders, data):
            self.write('run.bag', content, folder)
        agent = self.agent('--watch', folders[1], '--on-request', folder=folders[0])
        self.assertTrue(eventually(lambda: len(self.rows()) == 2), self.rows())
        rows = self.rows()
        self.assertEqual({row['announced']['sha256'] for row in rows.values()}, {sha256(content) for content in data})
        for row in rows.values():
            self.fetch(row['id'])
        self.await_stored({name: row['announced']['sha256'] for name, row in rows.items()})
        self.assertEqual({r['id'] for r in self.rows().values()}, {r['id'] for r in rows.values()})
        self.end(agent)

    # --- faults

    def test_ends_between_the_files_of_a_recording(self):
        """When one of its files has arrived it is no longer announced, and nobody can ask for the others."""
        made = os.path.join(self.folder, 'made')
        reel('convert', self.write('x.bag', bag(lab_messages(2, salt=4146)), folder=self.folder), made, '--format', 'rosbag2', '--storage', 'mcap')
        main, = [name for name in os.listdir(made) if name.endswith('.mcap')]
        self.retention({'quotas': [{'collection': self.collection, 'size': os.path.getsize(os.path.join(made, main)) + 100}]})
        os.rename(made, os.path.join(self.bags, 'made'))
        agent = self.agent('--on-request')
        row = self.await_state('made', 'announced')
        self.fetch(row['id'])
        self.await_known(main)
        self.await_said(agent, b'metadata.yaml')  # there is no room for it
        self.end(agent)
        self.retention({})
        agent = self.agent('--on-request')
        self.assertTrue(eventually(lambda: len(self.get('%s/recordings/%s' % (API, row['id'])).json()['parts']) == 2))
        self.end(agent)

    def test_a_disk_that_is_not_mounted(self):
        """What users ask for meanwhile waits for it."""
        link = Link(self.server.port)
        self.addCleanup(link.close)
        data, away = bag(lab_messages(3, salt=4147)), os.path.join(self.folder, 'away')
        self.write('run.bag', data)
        agent = self.agent('--on-request')
        row = self.await_state('run.bag', 'announced')
        self.await_line('"announced":"%s"' % row['id'])
        self.end(agent)
        os.rename(self.bags, away)
        self.fetch(row['id'])
        self.fetch(row['id'], '?start=%2B1s&end=%2B2s')
        agent = self.agent('--on-request', '--rescan-interval', '1s', url=link.base)
        self.await_polls(link, 2)
        self.assertEqual({f['state'] for f in self.asked(row['id'])}, {'waiting'})
        os.rename(away, self.bags)
        self.assertTrue(eventually(lambda: self.stored().get('run.bag') == sha256(data)), self.rows())
        self.end(agent)

    def await_line(self, text):
        """Until this is in the agent's file."""
        def known():
            with open(os.path.join(self.folder, 'state')) as f:
                return text in f.read()
        self.assertTrue(eventually(known), text)

    def await_polls(self, link, more):
        """Until the agent has asked so often what users want."""
        polls = lambda: sum(r.startswith('GET /api/v1/fetches') for r in link.requests)
        wanted = polls() + more
        self.assertTrue(eventually(lambda: polls() >= wanted), link.requests)

    def test_a_link_that_is_cut(self):
        """After every so many bytes, also in the middle of an announcement: one recording, and all of it."""
        link = Link(self.server.port, budget=1)
        self.addCleanup(link.close)
        data = {'x%d.bag' % i: bag(lab_messages(2, salt=4150 + i)) for i in range(2)}
        for name in data:
            self.write(name, data[name])
        agent = self.agent('--announce', '--still-time', '0', url=link.base)
        for budget in (300, 700, 1500, 4000):
            self.assertTrue(eventually(lambda: link.budget == 0))
            link.budget = budget
        self.assertTrue(eventually(lambda: link.budget == 0))
        link.budget = None
        self.await_stored({name: sha256(data[name]) for name in data})
        self.assertEqual(set(self.rows()), set(data))
        self.await_known(*data)
        self.end(agent)

    def test_server_and_robot_end_between(self):
        server = Server()
        self.addCleanup(server.stop)
        data = bag(lab_messages(3, salt=4160))
        self.write('run.bag', data)
        link = Link(server.port)
        self.addCleanup(link.close)
        agent = self.agent('--on-request', url=link.base)
        row = self.await_state('run.bag', 'announced', server)
        agent.send_signal(signal.SIGKILL)
        agent.wait(PATIENCE)
        self.fetch(row['id'], server=server)
        folder, own, server.own = server.data, server.own, False
        server.stop()
        again = Server(folder)
        again.own = own
        self.addCleanup(again.stop)
        link.to = again.port
        agent = self.agent('--on-request', url=link.base)
        self.await_stored({'run.bag': sha256(data)}, again)
        self.assertEqual(self.rows(again)['run.bag']['id'], row['id'])
        self.end(agent)

    def test_what_cannot_be_announced_is_sent(self):
        """The server says what is wrong with a file that cannot be scanned here, as without --announce."""
        self.write('damaged.bag', b'#ROSBAG V2.0\n' + bytes(5000))
        agent = self.agent('--on-request')
        self.await_said(agent, b'damaged.bag: the server answered 422')
        self.end(agent)

    def test_what_is_there_already_is_not_sent(self):
        data = bag(lab_messages(2, blob=300_000, salt=4180))
        self.server.added('run.bag', data, collection=self.collection)
        self.write('run.bag', data)
        agent = self.agent('--on-request')
        self.assertTrue(eventually(lambda: os.path.exists(os.path.join(self.folder, 'state'))))
        self.await_known('run.bag')
        self.assertIn('already stored', self.end(agent)[0])

    def test_options(self):
        for args in (('--announce',), ('--on-request',), ('--robot', 'x')):
            done = reel('push', __file__, *args, self.server.base, check=False)
            self.assertEqual((done.returncode, b'need --watch' in done.stderr), (2, True))


for name in dir(Base):
    if name.startswith('test_') and name not in vars(Announcing):
        setattr(Announcing, name, None)
del Base
