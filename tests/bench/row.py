"""A row of the table, and the common ways to make one."""
from typing import NamedTuple, Optional

from lab import median


class Row(NamedTuple):
    what: str
    ours: str
    peer: str
    ratio: Optional[float]
    target: str  # '' where only the figure is of interest
    ok: Optional[bool]
    samples: dict = {}
    limit: str = ''  # what no program can beat on the same bytes


def size_name(size):
    return '%d GB' % (size // 10**9) if size >= 10**9 else '%d MB' % (size // 10**6)


def rate(size, seconds):
    return '%.2f GB/s' % (size / seconds / 1e9)


def at_most(what, ours, peer, limit, unit, samples, scale=1.0, bound=''):
    """Ours against the peer, smaller is better; no limit: for information."""
    ratio = ours / peer
    return Row(what, unit % (ours * scale), unit % (peer * scale), ratio, limit and '<= %g x' % limit, limit and ratio <= limit, samples, bound)


def throughput(what, size, ours, peer, limit, samples=None):
    """Times for equal bytes, shown as rates, larger is better."""
    a, b = median(ours), median(peer)
    return Row(what, rate(size, a), rate(size, b), b / a, '>= %g x' % limit, b / a >= limit, samples or {'ours_s': ours, 'peer_s': peer})
