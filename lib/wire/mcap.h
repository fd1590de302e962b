/* What formats that hold MCAP files need to know of them. */
#ifndef REEL_WIRE_MCAP_H
#define REEL_WIRE_MCAP_H

enum { MCAP_SCAN_VERSION = 2 }; /* of the MCAP scan: the version of a format that uses it rises with this one */

#endif
