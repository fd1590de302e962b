"""A link between a robot and a server, which a test cuts."""
import socket
import threading
import time


class Link:
    """Passes connections on to a server. `budget` bytes of clients pass, then all connections are cut; None: no end."""

    def __init__(self, to, budget=None, rate=None):
        self.to, self.budget, self.rate, self.passed, self.times, self.open, self.requests = to, budget, rate, 0, [], [], []
        self.lock = threading.Lock()
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]
        self.base = 'http://127.0.0.1:%d' % self.port
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            try:
                server = socket.create_connection(('127.0.0.1', self.to))
            except OSError:
                client.close()
                continue
            self.open += [client, server]
            threading.Thread(target=self.pass_on, args=(client, server, True), daemon=True).start()
            threading.Thread(target=self.pass_on, args=(server, client, False), daemon=True).start()

    def pass_on(self, source, target, of_client):
        try:
            while data := source.recv(16384):
                if of_client:
                    with self.lock:
                        if data[:4] in (b'GET ', b'POST', b'PUT ', b'PATC', b'HEAD'):
                            self.requests.append(data.split(b'\r\n')[0].decode())
                        part = data if self.budget is None else data[:self.budget]
                        self.passed += len(part)
                        self.times.append((time.monotonic(), len(part)))
                        self.budget = None if self.budget is None else self.budget - len(part)
                    target.sendall(part)
                    if self.budget == 0:
                        break
                    if self.rate:
                        time.sleep(len(data) / self.rate)
                else:
                    target.sendall(data)
        except OSError:
            pass
        for s in (source, target):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            s.close()

    def close(self):
        self.listener.close()
        for s in self.open:
            s.close()
