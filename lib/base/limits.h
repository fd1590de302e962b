/* The limits against which sizes from outside are checked before an allocation or a loop. */
#ifndef REEL_BASE_LIMITS_H
#define REEL_BASE_LIMITS_H

enum {
    REEL_CHANNELS_MAX = 65535,
    REEL_TEXT_MAX = 64 << 10,   /* a topic, type or key */
    REEL_SCHEMA_MAX = 16 << 20, /* one definition */
    REEL_SCHEMAS_PER_CHANNEL_MAX = 64,
    REEL_MODEL_MAX = 256 << 20, /* all texts and definitions of one recording */
    REEL_METADATA_MAX = 65536,  /* metadata pairs of one recording */
    REEL_ATTACHMENTS_MAX = 65536,
    REEL_FINDINGS_MAX = 1000, /* findings kept with their text; all are counted */
    REEL_PARTS_MAX = 4096,
    REEL_SEGMENT_ENTRIES = 4096,      /* entries in one packed segment */
    REEL_BUILD_MEMORY_MAX = 24 << 20, /* pending entries of all channels while scanning */
    REEL_CHUNK_MEMORY_MAX = 64 << 20, /* a compressed run larger than this (raw) is spooled to disk */
    REEL_OPENED_MAX = 16,             /* files that huge chunks of one recording were decoded to, open at a time … */
    /* … and their total size; a single one may be larger, and those in use are not closed */
    REEL_OPENED_MIB_MAX = 4096,
    REEL_MESSAGE_MEMORY_MAX = 1 << 30, /* a payload that is needed whole in memory */
    REEL_DECODED_MAX = 64 << 20,       /* a payload that is decoded to values */
    REEL_WINDOW_BYTES = 1 << 20,       /* one read of a file while walking it */
    REEL_DEPTH_MAX = 128,              /* nesting of maps and arrays in a payload */
    REEL_RECORD_HEADER_MAX = 1 << 20,  /* header of one ROS bag record */
    REEL_GLOB_STEPS_MAX = 1 << 20,
    REEL_OVERLAP_MAX = 16,         /* segments of one channel that may overlap before they are compacted */
    REEL_CHUNK_RAW_MAX_MIB = 4096, /* one compressed chunk, decoded */
    /* a chunk that decodes to more times its size is decoded only if records begin in it … */
    REEL_EXPANSION_MAX = 1000,
    REEL_EXPANSION_FREE = 16 << 20,   /* … except for this many bytes of one scan, which are cheap */
    REEL_CONNECTION_MAX = 32 << 20,   /* description of one connection of a ROS bag 2.0, with all schemas */
    REEL_DEFINITION_TYPES_MAX = 4096, /* one ROS message, with nested values */
    REEL_DEFINITION_FIELDS_MAX = 16384,
    REEL_OWN_DEFINITION_MAX = 64 << 10, /* one definition that users supply, … */
    REEL_OWN_DEFINITIONS_MAX = 8192,    /* all of them */
    REEL_OWN_DEFINITIONS_BYTES_MAX = 32 << 20,
    REEL_COMPLETED_MAX = 1 << 20,          /* what completes one definition of a recording */
    REEL_DEFINITION_CONSTANTS_MAX = 65536, /* constants and enumerators, or labels of unions, of one IDL definition */
    REEL_EXPRESSION_DEPTH_MAX = 64,        /* nesting of an IDL expression, with the constants it names */
    REEL_EXPRESSION_LOOKUPS_MAX = 4 << 20, /* of names in the expressions of one IDL definition, in each scope */
    REEL_MUTABLE_MEMBERS_MAX = 1024,       /* members of one type that a payload may have in any order */
    REEL_FIELD_VISITS_MAX = 1 << 16, /* fields of one definition, and types on the way to them, when it is listed */
    REEL_ROW_METADATA_MAX = 255,     /* texts of one channel that a row defines */
    /* nodes of a table's columns, nested ones too; a message with more is one column of JSON */
    REEL_COLUMNS_MAX = 2048,
    /* parts of the shapes of all schemas of a table that are visited; with more a message is one column of JSON */
    REEL_SHAPE_PARTS_MAX = 1 << 20,
    REEL_COLUMN_KEYS_MAX = 1024,     /* members of one struct in a table; an object with more is one column of JSON */
    REEL_COLUMN_DEPTH_MAX = 16,      /* nesting of structs and lists in a table; deeper values are JSON */
    REEL_ROW_VALUES_MAX = 96 << 20,  /* values of one row of a table, decoded; a payload with more is a cell of bytes */
    REEL_ROW_GROUP_BYTES = 32 << 20, /* values of one row group of a table, where no single row has more */
    REEL_EMPTY_VALUES_MAX = 4096,    /* values of one payload that occupy no bytes in it */
    REEL_LEGACY_MESSAGE_MAX = 128 << 20,     /* one message of a .traj or .state: NanoVer's own limit */
    REEL_SOCKET_MESSAGE_MAX = 1 << 20,       /* one message that the server receives by WebSocket … */
    REEL_SOCKET_RECORDED_MAX = 128 << 20,    /* … and one that `reel record` does */
    REEL_SOCKET_QUEUED_MAX = 64 << 10,       /* bytes waiting to be sent with which a WebSocket does not read */
    REEL_SOCKET_LIST_MAX = 1000,             /* recordings that NanoVer's playback/list names */
    REEL_STATISTICS_CHANNELS_MAX = 8192,     /* channels of a recording whose fields have statistics … */
    REEL_STATISTICS_FIELDS_MAX = 1024,       /* fields of one channel that have statistics … */
    REEL_STATISTICS_ALL_FIELDS_MAX = 131072, /* … and of all channels of a recording */
    REEL_STATISTICS_PATHS_MAX = 16 << 20,    /* bytes of their paths */
    REEL_STATISTICS_MAX = 32 << 20,   /* bytes of all blocks of a recording, in memory; above it pairs of blocks become
                                         one */
    REEL_SCAN_AHEAD_BYTES = 64 << 20, /* chunks that a scan decodes ahead on threads, together … */
    REEL_SCAN_AHEAD_MEMORY = 136 << 20,       /* … and with their stored bytes and the buffers of the threads */
    REEL_DERIVED_EVENTS_MAX = 1 << 19,        /* events that follow from one recording … */
    REEL_DERIVED_EVENTS_BYTES_MAX = 64 << 20, /* … and their texts */
    REEL_QUESTION_CHANNELS_MAX = 1024,        /* channels of one recording that a question about values is about */
    REEL_VIDEO_FRAMES_MAX = 1 << 21,          /* frames of one MP4 file: 19 hours at 30 Hz */
    REEL_TRAJECTORY_FRAMES_MAX = 1 << 21,     /* frames of one TRR, DCD or XTC file */
    REEL_TOPOLOGY_TEXTS_MAX = 1 << 22,        /* names of particles, residues or chains that a PDB or GRO file has */
    REEL_TOPOLOGY_BYTES_MAX = 384 << 20,      /* of the runs up to the one that such a file shows */
    REEL_WRITE_VALUES_MAX = 128,              /* values of the options of a writer in one conversion */
    REEL_H264_PIXELS_MAX = 36864 * 256,       /* of a frame that is decoded: level 5.2, of which libopenh264 holds up to
                                                 18 */
    REEL_VIDEO_BEFORE_MAX = 4096,             /* frames that are put in front of a cut, from its key frame on */
    /* memory of what is made of one definition of protobuf, FlatBuffers or Cap'n Proto */
    REEL_DEFINITION_TABLES_MAX = 64 << 20,
    /* parts of a payload that are visited for each of its bytes, where parts are shared or out of order … */
    REEL_STEPS_PER_BYTE = 64,
    /* … and of a small one */
    REEL_STEPS_LEAST = REEL_DEFINITION_FIELDS_MAX,
    /* of one message of Cap'n Proto, as its own library allows */
    REEL_CAPNPROTO_SEGMENTS_MAX = 512,
};

#endif
