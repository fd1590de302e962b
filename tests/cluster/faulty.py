"""A proxy that breaks connections: ok; http N (that status at once); cut (half of an answer's bytes); reset; refuse (closes at once); hang (keeps
the connection open and copies nothing)."""
import select
import socket
import struct
import threading


class Faulty:
    def __init__(self, target, listen='127.0.0.1'):
        host, port = target.split(':')
        self.target, self.mode, self.every, self.count = (host, int(port)), 'ok', 1, 0
        self.listener = socket.create_server((listen, 0))
        self.port, self.stopping, self.open = self.listener.getsockname()[1], False, set()
        threading.Thread(target=self.accept, daemon=True).start()

    def set(self, mode, every=1):
        """From now on: kept connections end, so that the next request sees it."""
        self.mode, self.every = mode, every
        for s in list(self.open):
            self.close(s)

    def stop(self):
        self.stopping = True
        self.listener.close()
        self.set('ok')

    def close(self, s):
        self.open.discard(s)
        try:
            s.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def accept(self):
        while not self.stopping:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        self.count += 1
        mode = self.mode if self.count % self.every == 0 else 'ok'
        self.open.add(client)
        try:
            self.break_or_copy(client, mode)
        except OSError:
            pass
        finally:
            self.open.discard(client)
            client.close()

    def break_or_copy(self, client, mode):
        if mode == 'refuse':
            return
        if mode == 'hang':
            while client in self.open and not self.stopping:
                select.select([], [], [], 0.1)
            return
        if mode.startswith('http'):
            client.recv(65536)
            client.sendall(('HTTP/1.1 %s Broken\r\nContent-Length: 0\r\nConnection: close\r\n\r\n' % mode.split()[1]).encode())
            return
        with socket.create_connection(self.target) as server:
            self.open.add(server)
            try:
                self.copy(client, server, mode)
            finally:
                self.open.discard(server)

    def copy(self, client, server, mode):
        given = 0
        while True:
            for s in select.select([client, server], [], [])[0]:
                data = s.recv(65536)
                if not data:
                    return
                if s is server and mode == 'reset' and given > 1000:
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
                    return
                if s is server and mode == 'cut' and given > 100000:
                    client.sendall(data[:len(data) // 2])
                    return
                given += len(data) if s is server else 0
                (server if s is client else client).sendall(data)
