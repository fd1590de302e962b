/* Names for the payloads of TIDE logs. */
#ifndef REEL_FORMATS_TIDE_RSB_NAMES_H
#define REEL_FORMATS_TIDE_RSB_NAMES_H

#define RSB_ENCODING "rsb"         /* an RSB event around a payload */
#define RSB_PLAIN_ENCODING "bytes" /* a bare payload, identified only by its type */
#define FRAMES_ENCODING "frames"   /* frames back to back, each of a type of its own */

/* reel_format.contract of TIDE logs: channels have the metadata keys that formats/tide/model.c lists. */
#define TIDE_CONTRACT "tide"

#endif
