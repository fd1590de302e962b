/* The chunks of a scan, decoded: into memory that is used again, and ahead of the scan where there are threads. */
#ifndef REEL_INDEX_SCAN_CHUNKS_H
#define REEL_INDEX_SCAN_CHUNKS_H

#include "base/threads.h"
#include "chunks/codec.h"

struct scan_chunks;
