"""The page's files, as a browser asks for them: kept for ever by their names, packed as they lie in the program, and guarded."""
import gzip
import re
import unittest

from harness import API, Case, Server, reel

HTML = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
SMALL = 200  # bytes: a module of one line
VIEWS = ('/', '/events?q=slip', '/upload', '/recordings/0123456789abcdef?at=1.5&panel=plot', '/admin', '/admin/tokens?page=2')


class Page(Case):
    def page(self, path='/', **headers):
        return self.get(path, Accept=HTML, **headers)

    def assets(self):
        found = ['/' + name for name in re.findall(r'(?:src|href)="(assets/[^"]+)"', self.page().body.decode())]
        if not found:
            self.skipTest('this program was built without its page')
        return found

    def test_every_view_is_the_same_page(self):
        first = self.page()
        self.assertTrue(first.headers['Content-Type'].startswith('text/html'))
        self.assertIn(b'<title>Reel</title>', first.body)
        for path in VIEWS:
            with self.subTest(path):
                self.assertEqual(self.page(path).body, first.body)

    def test_maps_have_no_background(self):
        self.assertIsNone(self.get(API).json()['map'])
        self.assertIn("img-src 'self' data: blob:;", self.page().headers['Content-Security-Policy'])

    def test_programs_still_get_the_service_document(self):
        for accept in (None, '*/*', 'application/json', 'application/json, text/plain;q=0.9'):
            with self.subTest(accept):
                answer = self.get('/', **({'Accept': accept} if accept else {}))
                self.assertEqual(answer.json()['service'], 'reel')
                self.assertIn('Accept', answer.headers.get_all('Vary'))

    def test_only_the_worker_that_hashes_compiles_webassembly(self):
        names, found = set(re.findall(r'"assets/([\w-]+\.js)', self.page().body.decode())), {}
        while names - set(found):
            name = (names - set(found)).pop()
            answer = self.get('/assets/' + name)
            found[name] = answer.headers['Content-Security-Policy']
            names |= set(re.findall(r'([\w]+-\w+\.js)', answer.body.decode()))
        workers = [name for name in found if name.startswith('hash_worker')]
        self.assertEqual(len(workers), 1, found)
        self.assertEqual([name for name in found if 'wasm' in found[name]], workers)
        self.assertEqual(found[workers[0]], "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'")

    def test_it_runs_nothing_but_its_own(self):
        policy = dict(re.findall(r'([a-z-]+) ([^;]+)', self.page().headers['Content-Security-Policy']))
        self.assertEqual(policy['default-src'], "'self'")
        self.assertEqual(policy['frame-ancestors'], "'none'")
        self.assertEqual(policy['object-src'], "'none'")
        self.assertNotIn('unsafe', str(policy))
        self.assertNotIn('script-src', policy)
        self.assertEqual(self.page().headers['X-Content-Type-Options'], 'nosniff')
        self.assertEqual(self.page().headers['X-Frame-Options'], 'DENY')
        html = self.page().body.decode()
        self.assertEqual(re.findall(r'<script(?![^>]*\bsrc=)[^>]*>|<style|\son[a-z]+=|style=', html), [])
        self.assertEqual(re.findall(r'(?:src|href)="(?!assets/|api/)([^"]*)', html), ['/'])  # but for the base

    def test_index_is_asked_for_each_time(self):
        answer = self.page()
        self.assertIn('no-cache', answer.headers['Cache-Control'])
        if self.assets():
            tag = answer.headers['ETag']
            again = self.get('/', 304, Accept=HTML, **{'If-None-Match': tag})
            self.assertEqual((again.body, again.headers['ETag']), (b'', tag))

    def test_assets_are_kept_for_ever(self):
        for path in self.assets():
            with self.subTest(path):
                answer = self.get(path)
                self.assertEqual(answer.headers['Cache-Control'], 'public, max-age=31536000, immutable')
                self.assertRegex(path, r'-[0-9A-Za-z]{8,}\.(js|css|svg|png|txt|webmanifest)$')
                kind = {'js': 'text/javascript', 'css': 'text/css', 'svg': 'image/svg+xml', 'png': 'image/png', 'webmanifest': 'application/manifest+json', 'txt': 'text/plain'}[path.rsplit('.')[-1]]
                self.assertTrue(answer.headers['Content-Type'].startswith(kind), answer)
                self.assertEqual(int(answer.headers['Content-Length']), len(answer.body))
                self.assertEqual(self.get(path, 304, **{'If-None-Match': answer.headers['ETag']}).body, b'')

    def test_packed_is_the_same(self):
        for path in self.assets():
            with self.subTest(path):
                plain = self.page(path)
                packed = self.page(path, **{'Accept-Encoding': 'br, gzip;q=0.8'})
                self.assertIsNone(plain.headers['Content-Encoding'])
                if len(plain.body) < SMALL and packed.headers['Content-Encoding'] is None:  # it does not shrink
                    self.assertEqual(packed.body, plain.body)
                    continue
                self.assertEqual(packed.headers['Content-Encoding'], 'gzip')
                self.assertEqual(gzip.decompress(packed.body), plain.body)
                self.assertLess(len(packed.body), len(plain.body))
                self.assertNotEqual(packed.headers['ETag'], plain.headers['ETag'])
                self.assertIn('Accept-Encoding', packed.headers['Vary'])
                refused = self.page(path, **{'Accept-Encoding': 'gzip;q=0'})
                self.assertIsNone(refused.headers['Content-Encoding'])

    def test_head_and_ranges(self):
        path = self.assets()[-1]
        whole = self.get(path)
        head = self.server.request('HEAD', path)
        self.assertEqual((head.status, head.body, head.headers['Content-Length'], head.headers['ETag']),
                         (200, b'', str(len(whole.body)), whole.headers['ETag']))
        self.assertEqual(self.get(path, 206, Range='bytes=10-19').body, whole.body[10:20])

    def test_favicon(self):
        linked = next(path for path in self.assets() if path.startswith('/assets/icon-') and path.endswith('.svg'))
        answer = self.get('/favicon.ico')
        self.assertEqual((answer.headers['Content-Type'], answer.body), ('image/svg+xml', self.get(linked).body))

    def test_what_is_not_there(self):
        for path in ('/assets/main-00000000.js', '/assets/index.html', '/assets/..%2findex.html', '/assets/' + 'x' * 300, '/index.html',
                     '/uploads', '/library'):
            with self.subTest(path):
                self.assertIn(self.server.request('GET', path).status, (400, 404))
        self.assertEqual(self.server.request('POST', '/upload', b'').status, 405)

    def test_an_address_that_somebody_typed_gets_the_page(self):
        index = self.page('/').body
        for path in ('/library', '/nothing/here?at=1', '/uploads/'):
            with self.subTest(path):
                answer = self.server.request('GET', path, headers={'Accept': HTML})
                self.assertEqual((answer.status, answer.body), (404, index))
                self.assertIn("default-src 'self'", answer.headers['Content-Security-Policy'])
                self.assertEqual(answer.headers['Cache-Control'], 'no-store')
        for method, path, accept in (('GET', '/api/v1/nothing', HTML), ('GET', '/library', '*/*'), ('PUT', '/library', HTML),
                                     ('GET', '/assets/main-00000000.js', '*/*')):
            with self.subTest(method + path):
                self.assertProblem(self.server.request(method, path, headers={'Accept': accept}), 404)

    def test_first_view_is_light(self):
        scripts = [path for path in self.assets() if path.endswith('.js')]
        size = sum(len(self.get(path, **{'Accept-Encoding': 'gzip'}).body) for path in scripts)
        self.assertLess(size, 150 * 1024)


class WithTokens(unittest.TestCase):
    def test_the_page_is_open_the_archive_is_not(self):
        server = Server()
        try:
            made = server.request('POST', API + '/tokens', b'{"name":"keeper","role":"admin"}', {'Content-Type': 'application/json'})
            self.assertEqual(made.status, 201, made)
            page = server.request('GET', '/', headers={'Accept': HTML})
            self.assertEqual(page.status, 200)
            for path in re.findall(r'="(/assets/[^"]+)"', page.body.decode()):
                self.assertEqual(server.request('GET', path).status, 200, path)
            self.assertEqual(server.request('GET', '/recordings/abc', headers={'Accept': HTML}).status, 200)
            self.assertEqual(server.request('GET', API + '/recordings').status, 401)
            asked = server.request('GET', API + '/recordings', headers={'X-Requested-With': 'reel'}) # no prompt of the browser over the page's own
            self.assertEqual((asked.status, [h.split()[0] for h in asked.headers.get_all('WWW-Authenticate')]), (401, ['Bearer']))
        finally:
            server.stop()


class MapTiles(Case):
    """The background of maps comes from another host, whose images the page may load."""
    server_args = ('--map-tiles', 'https://tiles.example:8443/a/{z}/{x}/{y}.png?key=1;2', '--map-attribution', '© Tiles')

    def test_the_page_learns_the_address(self):
        self.assertEqual(self.get(API).json()['map'], {'tiles': self.server_args[1], 'attribution': '© Tiles'})

    def test_only_images_come_from_there(self):
        policy = dict(re.findall(r'([a-z-]+) ([^;]+)', self.get('/', Accept=HTML).headers['Content-Security-Policy']))
        self.assertEqual(policy['img-src'], "'self' data: blob: https://tiles.example:8443")
        self.assertNotIn('tiles', policy['default-src'])

    def test_what_is_no_address(self):
        for url in ('tiles.example/{z}/{x}/{y}', 'https://tiles.example', 'https://tiles.example/{z}/{x}', "https://a.example; script-src 'unsafe-inline'/{z}/{x}/{y}",
                    'https://user@tiles.example/{z}/{x}/{y}', 'https:///{z}/{x}/{y}', 'https://{z}.example/{x}/{y}', 'https://a.example/{z}/{x}/{y} z', 'ftp://a.example/{z}/{x}/{y}'):
            done = reel('serve', '--check-config', '--map-tiles', url, check=False)
            self.assertEqual(done.returncode, 2, url)
            self.assertIn(b'--map-tiles', done.stderr)


if __name__ == '__main__':
    unittest.main()
