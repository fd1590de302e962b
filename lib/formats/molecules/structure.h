/* One frame with its topology, for formats of text with fixed columns. */
#ifndef REEL_FORMATS_MOLECULES_STRUCTURE_H
#define REEL_FORMATS_MOLECULES_STRUCTURE_H

#include "formats/molecules/trajectory.h"

struct molecule_atom {
    struct reel_bytes name, residue; /* may have any bytes and length: structure_text() */
    const char *element;             /* "C"; "" for what is no atom */
    uint32_t residue_number;         /* as the recording calls it, else counted from 1 */
    uint32_t chain;                  /* its number */
    char chain_letter;
};
struct molecule_atom molecule_atom_of(const struct trajectory *t, uint32_t i);

/* A text of at most `width` bytes, filled up with spaces; what is not printable ASCII becomes '_'. */
void structure_text(struct reel_sink *out, struct reel_bytes text, unsigned width);
/* A number with so many decimals, right-aligned. One that needs more columns takes them: the survey's limit sees to it
 * that no coordinate does. */
void structure_fixed(struct reel_sink *out, double value, unsigned width, unsigned decimals);
void structure_number(struct reel_sink *out, uint64_t value, unsigned width);

/* The whole output is the head: messages() has no bytes. */
bool structure_messages(struct reel_write *w, struct reel_sink *out, struct reel_error *err);
bool structure_accepts_all(const struct reel_stream *stream, struct reel_loss *loss);

static inline void structure_put(struct reel_sink *out, const char *text) {
    reel_sink_put(out, text, strlen(text));
}
static inline double structure_value(struct reel_bytes packed, size_t i) {
    return (double)load_f32le(packed.data + 4 * i);
}

#endif
