/* What the channels of MIRA tapes are called by. */
#ifndef REEL_WIRE_MIRA_H
#define REEL_WIRE_MIRA_H

#define MIRA_ENCODING "mira"             /* of payloads and of the meta data as a schema: MIRA's binary serializer */
#define MIRA_ORDER_KEY "mira.byte_order" /* channel metadata: "big" when the tape is big-endian, and so its numbers */

#endif
