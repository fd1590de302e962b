"""What the tests under faults share: which form runs, the seed of what is random, and the harness of tests/e2e (import it from here)."""
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'e2e'))

LONG = os.environ.get('REEL_FAULTS_LONG') == '1'
SEED = int(os.environ.get('REEL_FAULTS_SEED') or random.SystemRandom().randrange(1 << 31))
