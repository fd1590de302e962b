"""Golden cases whose expected.txt the independent reader (golden_readers.py) cannot derive, and why. peer_golden.py requires that exactly these differ."""

RESYNC = 'the reader does not search for the next record after damage'
BROKEN_B_TREE = 'SQLite stops at the first page that is damaged'
NO_TIMES = 'the times are estimated by rules of ours: the index that holds them is lost'
OWN_LIMIT = 'the reader has no such limit'

UNFOLLOWED = {
    'rosbag-1.2': {
        'garbage_with_index': RESYNC,
        'garbage_without_index': RESYNC,
    },
    'rosbag-2.0': {
        'chunk_does_not_decode': 'python3-rosbag ends at a chunk that does not decode',
        'chunk_length_wrong': RESYNC,
        'connection_late_and_unknown': 'python3-rosbag drops messages that precede their connection record, and those without one',
        'crashed_in_a_chunk': 'python3-rosbag leaves out a chunk that was not closed',
        'cut_in_chunk': 'python3-rosbag leaves out a chunk that was not closed',
        'cut_in_index': 'python3-rosbag reads only the chunks that the cut index names',
        'encrypted': 'python3-rosbag needs the key',
        'garbage_over_chunk_header': RESYNC,
        'index_at_odds': 'python3-rosbag refuses a file whose header counts other chunks than its index',
    },
    'mcap': {
        'chunk_bomb': '@mcap/core ends at a chunk that it cannot decode',
        'chunk_crc': '@mcap/core ends at a chunk whose CRC is wrong',
        'chunk_does_not_decode': '@mcap/core ends at a chunk that it cannot decode',
        'chunk_unknown_compression': '@mcap/core ends at a chunk that it cannot decode',
        'cut_in_plain_chunk': '@mcap/core reads a chunk when all of it is there',
        'definition_late': '@mcap/core ends at a message before its channel',
        'definition_none': '@mcap/core ends at a message without a channel',
        'definitions_in_summary': '@mcap/core ends at a message before its channel',
        'garbage': RESYNC,
        'id_again': '@mcap/core ends where a channel id gets another topic',
        'length_wrong': RESYNC,
        'padded_zstd': 'the zstd decoder of the reader refuses bytes after the frame',
        'time_out_of_range': 'we keep times of 63 bits, the reader of 64',
    },
    'rosbag2': {
        'computed_column': 'we read tables without SQLite and refuse computed columns; SQLite computes them',
        'cut': BROKEN_B_TREE,
        'ids_large': OWN_LIMIT,
        'leaf_lost': BROKEN_B_TREE,
        'overflow_lost': BROKEN_B_TREE,
        'root_lost': BROKEN_B_TREE,
        'tar_cut': "Python's tarfile returns no file that is cut",
        'view': 'we refuse a view in place of the table; SQLite reads it',
        'without_rowid': 'we refuse tables without row ids; SQLite reads them',
    },
    'nanover': {
        'archive_comment_magic': "Python's zipfile takes the magic in the comment for the end record",
        'crashed_recorder': NO_TIMES,
        'cut_in_index': NO_TIMES,
        'index_missing': NO_TIMES,
        'index_truncated': NO_TIMES,
        'metadata_missing': 'the entry has no time; we put it at 0',
        'nested_too_deeply': OWN_LIMIT,
        'timestamp_nil': 'the entry has no time; we repeat the one before',
        'wrong_crc': "Python's zipfile returns nothing of a member whose CRC is wrong",
    },
    'nanover_legacy': {
        'named_otherwise': "the reader takes the kind from the file's name, we from its messages",
        'nested_too_deeply': OWN_LIMIT,
        'wrong_size': RESYNC,
    },
    'carla': {
        'damage_inside': RESYNC,
        'elapsed_differs': 'the reader does not convert an infinite time',
        'map_odd': 'the reader requires that the map is UTF-8',
        'size_never_written': 'we cut the file at a size that was never written; the reader takes it for an empty packet',
        'start_short': 'the reader takes the time from after the end of the short packet',
        'wheels_alone': 'the reader takes the numbering of packets 21 to 23 from their place alone, we also from their size',
    },
    'mira': {
        'garbage': RESYNC,
        'length_wrong': RESYNC,
        'names_any_bytes': 'the reader replaces bytes that are not UTF-8',
        'odd_times': 'we end at 2^63 - 1 ns, the reader has no limit',
        'unknown_type': RESYNC,
    },
    'tide': {
        'binary_config': 'the reader replaces bytes that are not UTF-8',
        'chunk_size_wrong': RESYNC,
        'entry_size_wrong': RESYNC,
        'garbage': RESYNC,
        'libtidelog_crashed': RESYNC,
        'new_extended': 'the reader skips unknown blocks only where their tag is printable',
        'reel_notes': 'the topic is in a note of ours, which the reader does not know',
        'version_3': 'the reader does not refuse later versions',
    },
    'ulog': {
        'formats_odd': 'the reader needs a format, with a timestamp, for each subscription',
        'garbage': RESYNC,
        'size_too_large': RESYNC,
        'subscription_missing': 'the reader ends at a message without a subscription',
        'time_odd': 'the reader takes every time as it is',
        'too_short': 'the reader ends at a message that does not fit its format',
    },
}
