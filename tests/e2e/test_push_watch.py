"""reel push --watch: what runs on a robot. Files are taken when they are complete, in order, over a link that is cut; nothing is deleted that the server does not have."""
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time

from harness import API, PATIENCE, REEL, Case, Server, eventually, reel
from link import Link
from samples import bag, lab_messages


def sha256(data):
    return hashlib.sha256(data).hexdigest()


class Watch(Case):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='reel-watch-')
        self.bags = os.path.join(self.folder, 'bags')
        os.mkdir(self.bags)
        self.collection = re.sub(r'\W', '-', self.id().rpartition('.')[2])
        self.agents = []

    def tearDown(self):
        for agent in self.agents:
            agent.kill()
            agent.communicate()
        shutil.rmtree(self.folder, ignore_errors=True)

    def write(self, name, data, folder=None):
        path = os.path.join(folder or self.bags, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + '.part', 'wb') as f:
            f.write(data)
        os.rename(path + '.part', path)
        return path

    def agent(self, *args, url=None, state='state', folder=None, **kwargs):
        command = [REEL, 'push', '--watch', folder or self.bags, '--state', os.path.join(self.folder, state), '--collection', self.collection, '--still-time', '1s',
                   *args, url or self.server.base]
        agent = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kwargs)
        self.agents.append(agent)
        return agent

    def end(self, agent):
        agent.send_signal(signal.SIGTERM)
        out, err = agent.communicate(timeout=PATIENCE)
        self.assertEqual(agent.returncode, 0, err)
        return out.decode(), err.decode()

    def retention(self, rules):
        self.assertEqual(self.server.request('PUT', API + '/admin/retention', json.dumps(rules), {'Content-Type': 'application/json'}).status, 200)

    def stored(self, server=None):
        """Name: SHA-256 of what is in the collection."""
        items = (server or self.server).get('%s/recordings?limit=200&collection=%s' % (API, self.collection)).json()['items']
        return {item['name']: item['parts'][0]['sha256'] for item in items if item['state'] == 'ready'}

    def await_stored(self, wanted, server=None):
        self.assertTrue(eventually(lambda: self.stored(server) == wanted), (self.stored(server), wanted))

    def await_known(self, *names):
        """Until the agent has seen that the server has them."""
        def known():
            with open(os.path.join(self.folder, 'state')) as f:
                lines = [json.loads(line) for line in f if line.endswith('\n')]
            return {os.path.basename(line['path']) for line in lines if line.get('sha256')} >= set(names)
        self.assertTrue(eventually(known), names)

    def await_said(self, agent, text):
        """Until this is on its stderr."""
        os.set_blocking(agent.stderr.fileno(), False)
        said = []
        self.assertTrue(eventually(lambda: said.append(agent.stderr.read() or b'') or text in b''.join(said)), said)

    # --- what is complete

    def test_takes_what_is_complete(self):
        data = [bag(lab_messages(2, salt=800 + i)) for i in range(4)]
        self.write('before.bag', data[0])
        active = os.path.join(self.bags, 'day', 'run.bag.active')
        os.mkdir(os.path.dirname(active))
        with open(active, 'wb') as f:
            f.write(data[1])
        self.write('day/notes.txt', b'no recording\n')
        agent = self.agent('--tag', 'robot=r1')
        self.await_stored({'before.bag': sha256(data[0])})
        os.rename(active, active[:-len('.active')])
        self.write('new/deep/x.bag', data[2])
        growing = open(os.path.join(self.bags, 'grows.bag'), 'wb')
        growing.write(data[3][:1000])
        growing.flush()
        self.await_stored({'before.bag': sha256(data[0]), 'day/run.bag': sha256(data[1]), 'new/deep/x.bag': sha256(data[2])} | self.only('grows.bag'))
        growing.write(data[3][1000:])
        growing.close()
        self.assertTrue(eventually(lambda: self.stored().get('grows.bag') == sha256(data[3])))
        row = self.get('%s/recordings/name:%s%%2Fday%%2Frun.bag' % (API, self.collection)).json()
        self.assertEqual((row['tags'], row['revision']), ({'robot': 'r1'}, 1))
        self.await_known('before.bag', 'run.bag', 'x.bag', 'grows.bag')
        out, err = self.end(agent)
        self.assertEqual(out.count(': added as'), len(out.splitlines()))
        self.assertTrue(all('grows.bag' in line for line in err.splitlines()), err)
        for path in (active[:-len('.active')], os.path.join(self.bags, 'day', 'notes.txt')):
            self.assertTrue(os.path.exists(path))  # without --delete-after nothing is deleted

    def only(self, name):
        """Of a file that was still for a second while this machine was busy: its first revision."""
        return {k: v for k, v in self.stored().items() if k == name}

    def test_a_folder_of_ros2_bag_record(self):
        path = os.path.join(self.folder, 'made')
        source = self.write('x.bag', bag(lab_messages(2, salt=810)), folder=self.folder)
        reel('convert', source, path, '--format', 'rosbag2', '--storage', 'mcap')
        agent = self.agent('--delete-after', '0', '--still-time', '2s')
        os.rename(path, os.path.join(self.bags, 'made'))
        self.assertTrue(eventually(lambda: not os.path.exists(os.path.join(self.bags, 'made'))), os.listdir(self.bags))
        row = self.get('%s/recordings/name:%s%%2Fmade' % (API, self.collection)).json()
        self.assertEqual((len(row['parts']), row['format'], row['messages']), (2, 'rosbag2', len(lab_messages(2))))
        self.assertTrue(os.path.exists(self.bags))
        self.end(agent)

    def test_order(self):
        stop = os.path.join(self.folder, 'moving')
        open(stop, 'w').close()
        big = bag(lab_messages(4, blob=1_000_000, salt=820))
        names = ('old-big.bag', 'big.bag', 'new-small.bag', 'small.bag', 'tagged.bag')
        for i, name in enumerate(names):
            path = self.write(name, big if 'big' in name or name == 'tagged.bag' else bag(lab_messages(2, salt=820 + i)))
            os.utime(path, (1_600_000_000 + i, 1_600_000_000 + i))
        os.utime(os.path.join(self.bags, 'new-small.bag'), (2_000_000_000, 2_000_000_000))  # a clock that is wrong by years
        with open(os.path.join(self.bags, 'tagged.bag.tags'), 'w') as f:
            f.write('# what happened\nevent=fall\nnot a tag\n')
        agent = self.agent('--rate-while', stop + '=0', '--still-time', '0')
        self.assertTrue(eventually(lambda: os.path.exists(os.path.join(self.folder, 'state'))))
        self.assertEqual(self.stored(), {})
        os.unlink(stop)
        self.await_known(*names)
        out, err = self.end(agent)
        self.assertEqual([os.path.basename(line.split(': ')[0]) for line in out.splitlines()], ['tagged.bag', 'small.bag', 'new-small.bag', 'old-big.bag', 'big.bag'])
        self.assertIn('KEY=VALUE, not "not a tag"', err)
        self.assertEqual(self.get('%s/recordings/name:%s%%2Ftagged.bag' % (API, self.collection)).json()['tags'], {'event': 'fall'})

    def test_something_urgent_comes_first(self):
        link = Link(self.server.port, rate=500_000)
        self.addCleanup(link.close)
        big, small = bag(lab_messages(4, blob=1_000_000, salt=830)), bag(lab_messages(2, salt=831))
        self.write('big.bag', big)
        agent = self.agent(url=link.base)
        self.assertTrue(eventually(lambda: link.passed > 1_000_000))
        self.write('small.bag', small)
        self.await_stored({'small.bag': sha256(small)})
        link.rate = None
        self.await_stored({'small.bag': sha256(small), 'big.bag': sha256(big)})
        self.assertLess(link.passed, len(big) * 1.5)  # the rest of it, not all of it again
        self.end(agent)

    # --- deleting

    def test_deletes_only_what_the_server_has(self):
        data = {name: bag(lab_messages(2, salt=840 + i)) for i, name in enumerate(('a.bag', 'trashed.bag', 'purged.bag', 'changed.bag'))}
        paths = {name: self.write(name, data[name]) for name in data}
        agent = self.agent()
        self.await_stored({name: sha256(data[name]) for name in data})
        self.await_known(*data)
        self.end(agent)
        for name, query in (('trashed.bag', ''), ('purged.bag', '?purge=true')):
            id = self.get('%s/recordings/name:%s%%2F%s' % (API, self.collection, name)).json()['id']
            self.assertEqual(self.server.request('DELETE', '%s/recordings/%s%s' % (API, id, query)).status // 100, 2)
        with open(paths['changed.bag'], 'ab') as f:
            f.write(b'more')
        agent = self.agent('--delete-after', '0', '--still-time', '1h')
        self.assertTrue(eventually(lambda: not os.path.exists(paths['a.bag'])))
        self.write('last.bag', bag(lab_messages(2, salt=849)))  # when it is gone the others had their turn
        self.assertTrue(eventually(lambda: not os.path.exists(os.path.join(self.bags, 'last.bag'))))
        out, _ = self.end(agent)
        self.assertEqual(sorted(os.listdir(self.bags)), ['changed.bag', 'purged.bag', 'trashed.bag'])
        self.assertEqual(out.count('is no longer on the server; it stays here'), 2)
        self.assertNotIn('trashed.bag', self.stored())  # and is not uploaded again
        self.assertEqual(len(out.splitlines()), 5, out)

    def test_a_recording_is_deleted_as_a_whole(self):
        """Of several files one is not uploaded: the others stay, too."""
        first = bag(lab_messages(2, salt=845))
        path, made = self.write('first.bag', first), os.path.join(self.folder, 'made')
        reel('convert', self.write('x.bag', bag(lab_messages(2, salt=846)), folder=self.folder), made, '--format', 'rosbag2', '--storage', 'mcap')
        main, = [name for name in os.listdir(made) if name.endswith('.mcap')]
        room = len(first) + os.path.getsize(os.path.join(made, main)) + 100
        self.assertGreater(os.path.getsize(os.path.join(made, 'metadata.yaml')), 100)
        self.retention({'quotas': [{'collection': self.collection, 'size': room}]})
        agent = self.agent()
        self.await_stored({'first.bag': sha256(first)})
        self.await_known('first.bag')
        os.rename(made, os.path.join(self.bags, 'made'))
        self.await_known('first.bag', main)
        self.await_said(agent, b'metadata.yaml')
        self.end(agent)
        state = os.path.join(self.folder, 'state')
        with open(state) as f:
            known = [json.loads(line) for line in f]
        with open(state, 'w') as f:  # as if it had been stored first: it is the first that may be deleted
            f.write(''.join(json.dumps(line | {'verified': 1} if line.get('path', '').endswith(main) else line) + '\n' for line in known))
        agent = self.agent('--delete-after', '0')
        self.assertTrue(eventually(lambda: not os.path.exists(path)))
        self.assertEqual(sorted(os.listdir(os.path.join(self.bags, 'made'))), [main, 'metadata.yaml'])
        self.retention({'quotas': []})
        self.assertTrue(eventually(lambda: not os.path.exists(os.path.join(self.bags, 'made'))))
        self.assertEqual(len(self.get('%s/recordings/name:%s%%2Fmade' % (API, self.collection)).json()['parts']), 2)
        self.end(agent)

    def test_space_that_is_to_stay_free(self):
        data = bag(lab_messages(2, salt=850))
        path = self.write('a.bag', data)
        agent = self.agent('--delete-after', '365d', '--keep-free', '1000000GB')
        self.assertTrue(eventually(lambda: not os.path.exists(path)))
        self.await_stored({'a.bag': sha256(data)})
        self.end(agent)
        path = self.write('b.bag', bag(lab_messages(2, salt=851)))
        agent = self.agent('--delete-after', '365d', '--keep-free', '1k')
        self.await_known('b.bag')
        self.end(agent)
        self.assertTrue(os.path.exists(path))

    # --- what goes wrong

    def test_a_link_that_is_cut(self):
        """After every so many bytes, small and large files: all arrive, once."""
        data = {'%d.bag' % i: bag(lab_messages(2, blob=100_000 * (i % 3), salt=860 + i)) for i in range(5)}
        link = Link(self.server.port, budget=0)
        self.addCleanup(link.close)
        agent = self.agent('--delete-after', '0', url=link.base)
        for name in data:
            self.write(name, data[name])
        budget, cuts, until = 211, 0, time.monotonic() + 2 * PATIENCE
        while os.listdir(self.bags) and cuts < 400 and agent.poll() is None and time.monotonic() < until:
            if link.budget == 0:
                link.budget = budget
                budget, cuts = budget * 5 // 2, cuts + 1
            time.sleep(0.05)
        self.assertEqual(os.listdir(self.bags), [])
        self.await_stored({name: sha256(data[name]) for name in data})
        self.end(agent)

    def test_killed_on_both_sides(self):
        store = os.path.join(self.folder, 'data')
        server = Server(store)
        link = Link(server.port, rate=2_000_000)
        self.addCleanup(link.close)
        data = bag(lab_messages(4, blob=1_000_000, salt=870))
        path = self.write('big.bag', data)
        agent = self.agent('--delete-after', '0', url=link.base)
        self.assertTrue(eventually(lambda: link.passed > len(data) // 5))
        agent.kill()
        agent.communicate()
        first = link.passed
        agent = self.agent('--delete-after', '0', url=link.base)
        self.assertTrue(eventually(lambda: link.passed > first + len(data) // 5))
        server.process.kill()
        server.process.wait()
        server.stop(None)
        server = Server(store)
        link.to, link.rate = server.port, None
        self.assertTrue(eventually(lambda: not os.path.exists(path)))
        self.await_stored({'big.bag': sha256(data)}, server)
        self.assertLess(link.passed, len(data) * 1.6)
        self.end(agent)
        server.stop()

    def test_two_robots_with_one_name(self):
        """The same host, path, size and time, and other content: both are there in the end."""
        data = [bag(lab_messages(4, blob=300_000, salt=880 + i)) for i in range(2)]  # not in one request
        small = [bag(lab_messages(2, salt=882 + i)) for i in range(2)]
        self.assertEqual((len(data[0]), len(small[0])), (len(data[1]), len(small[1])))
        for i in range(2):
            for name, content in (('run.bag', data[i]), ('day/small.bag', small[i])):
                os.utime(self.write(name, content), (1_600_000_000, 1_600_000_000))
            agent = self.agent('--delete-after', '0', state='state-%d' % i)
            self.assertTrue(eventually(lambda: not os.path.exists(os.path.join(self.bags, 'run.bag')) and not os.listdir(os.path.join(self.bags, 'day'))))
            self.end(agent)
        self.assertEqual(self.stored(), {'run.bag': sha256(data[0]), 'run-%s.bag' % sha256(data[1])[:8]: sha256(data[1]),
                                         'day/small.bag': sha256(small[0]), 'day/small-%s.bag' % sha256(small[1])[:8]: sha256(small[1])})

    def test_a_state_that_cannot_be_written_or_is_lost(self):
        """A full disk: what is uploaded is known until the end, and found on the server after it."""
        data = bag(lab_messages(2, salt=890))
        self.write('a.bag', data)

        def full():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

        agent = self.agent(preexec_fn=full)
        self.await_stored({'a.bag': sha256(data)})
        self.await_said(agent, b'File too large')
        self.end(agent)
        with open(os.path.join(self.folder, 'state'), 'a') as f:
            f.write('{"path":"' + self.bags)  # and a line that a power failure cut
        agent = self.agent('--delete-after', '0')
        self.assertTrue(eventually(lambda: not os.listdir(self.bags)))
        out, _ = self.end(agent)
        self.assertIn('a.bag: already stored as', out)

    def test_a_server_without_room(self):
        data = bag(lab_messages(2, salt=895))
        path = self.write('a.bag', data)
        self.retention({'quotas': [{'collection': self.collection, 'size': 10}]})
        agent = self.agent('--delete-after', '0')
        self.await_said(agent, b'a.bag')
        self.assertTrue(os.path.exists(path))
        self.retention({'quotas': []})
        self.assertTrue(eventually(lambda: not os.path.exists(path)))
        self.await_stored({'a.bag': sha256(data)})
        self.end(agent)

    # --- the rest

    def test_rate(self):
        """Never more than the limit; that it is reached is a matter of the machine."""
        link, rate = Link(self.server.port), 400_000
        self.addCleanup(link.close)
        data = bag(lab_messages(2, blob=100_000, salt=900))
        self.write('a.bag', data)
        agent = self.agent('--rate', '3200kbit', url=link.base)
        self.await_stored({'a.bag': sha256(data)})
        self.end(agent)
        first, last = link.times[0][0], link.times[-1][0]
        self.assertGreater(last - first, len(data) / rate * 0.95 - 0.5)  # half a second: what the bucket holds, and the socket
        self.assertGreater(len(data), 4 * rate)

    def test_options(self):
        config = os.path.join(self.folder, 'push.conf')
        with open(config, 'w') as f:
            f.write('# of this robot\nwatch = %s\nurl = %s\ncollection = %s\nstate = %s/state\ndelete-after = 7d\nstill-time = 1s\ntag = a=1, b=2\n' %
                    (self.bags, self.server.base, self.collection, self.folder))
        self.write('a.bag', bag(lab_messages(2, salt=910)))
        agent = subprocess.Popen([REEL, 'push', '--config', config], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.agents.append(agent)
        self.assertTrue(eventually(lambda: 'a.bag' in self.stored()))
        done = reel('push', '--config', config, check=False)
        self.assertIn(b'another reel push uses', done.stderr)
        self.end(agent)
        self.assertEqual(self.get('%s/recordings/name:%s%%2Fa.bag' % (API, self.collection)).json()['tags'], {'a': '1', 'b': '2'})
        for args in (('--rate', '10X'), ('--rate', '0'), ('--rate-while', '1M'), ('--keep-free', '100%'), ('--delete-after', '7 days'), ('--dry-run',)):
            self.assertEqual(reel('push', '--watch', self.bags, *args, self.server.base, check=False).returncode, 2, args)
