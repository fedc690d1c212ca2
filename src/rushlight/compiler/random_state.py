"""How a Mersenne Twister lies in memory: 32-bit words."""

SIZE = 624  # words of a block
# behind the block: how many of its words are used (more than SIZE for a fresh seed; from SIZE on, the next block comes
# first), then a normal number that is kept for the next call: a flag and a double
POSITION, HAS_NORMAL, NORMAL = SIZE, SIZE + 1, SIZE + 2
STATE_WORDS = 640
STATE_BYTES = 4 * STATE_WORDS
