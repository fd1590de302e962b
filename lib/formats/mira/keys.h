/* Names used in channels of MIRA tapes. */
#ifndef REEL_FORMATS_MIRA_KEYS_H
#define REEL_FORMATS_MIRA_KEYS_H

#define MIRA_ENCODING "mira" /* encoding of payloads, and of metadata used as a schema: MIRA's binary serializer */
#define MIRA_ORDER_KEY "mira.byte_order" /* channel metadata: "big" for a tape with big-endian numbers */

#endif
