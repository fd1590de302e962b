"""nginx before several servers, each request to the next one."""
import os
import subprocess

NGINX = '''worker_processes 1;
daemon off;
pid %(folder)s/nginx.pid;
error_log %(folder)s/nginx.log;
events { worker_connections 1024; }
http {
    access_log off;
    client_body_temp_path %(folder)s/body;
    proxy_temp_path %(folder)s/proxy;
    fastcgi_temp_path %(folder)s/fastcgi;
    uwsgi_temp_path %(folder)s/uwsgi;
    scgi_temp_path %(folder)s/scgi;
    upstream reel {
        %(servers)s
        keepalive 16;
    }
    server {
        listen 127.0.0.1:%(port)d;
        location / {
            proxy_pass http://reel;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host $host:$server_port;
            client_max_body_size 0;
            proxy_request_buffering off;
            proxy_buffering off;
            proxy_connect_timeout 1s;
            proxy_read_timeout 1h;
            proxy_next_upstream error timeout;
        }
    }
}
'''


def start_nginx(folder, port, servers):
    path = os.path.join(folder, 'nginx.conf')
    lines = '\n        '.join('server 127.0.0.1:%d max_fails=1 fail_timeout=2s;' % s.port for s in servers)
    with open(path, 'w') as f:
        f.write(NGINX % {'folder': folder, 'servers': lines, 'port': port})
    return subprocess.Popen(['nginx', '-c', path, '-p', folder], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
