/* Shared with formats that contain MCAP files. */
#ifndef REEL_WIRE_MCAP_H
#define REEL_WIRE_MCAP_H

enum { MCAP_SCAN_VERSION = 2 }; /* of the MCAP scan; formats that use it include this in their own version */

#endif
