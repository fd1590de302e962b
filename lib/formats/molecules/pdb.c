/* PDB: the topology and one frame, which other programs read a TRR, DCD or XTC file with. Fixed columns; Angstrom. */
#include "formats/molecules/cell.h"
#include "formats/molecules/structure.h"
#include "formats/nanover/current_form.h"

enum { SERIALS = 100000, RESIDUES = 10000 };
#define LIMIT_NM 99.9999 /* -999.999 A has as many columns as there are */

static void put_box(const struct trajectory *t, struct reel_sink *out) {
    struct molecule_cell cell = molecule_cell_of(&t->boxes[t->frames[0].box]);
    structure_put(out, "CRYST1");
    for (unsigned i = 0; i < 3; i++) {
        structure_fixed(out, cell.lengths[i], 9, 3);
    }
    for (unsigned i = 0; i < 3; i++) {
        structure_fixed(out, cell.angles[i], 7, 2);
    }
    structure_put(out, " P 1           1\n");
}

/* Of a name with four characters, or whose element has two, the element begins in column 13, else in 14. */
static void put_name(const struct molecule_atom *atom, struct reel_sink *out) {
    bool wide = atom->name.size >= 4 || strlen(atom->element) == 2;
    structure_put(out, wide ? "" : " ");
    structure_text(out, atom->name, wide ? 4 : 3);
}

static void put_atom(const struct trajectory *t, uint32_t i, const struct molecule_atom *atom, struct reel_sink *out) {
    structure_put(out, "ATOM  ");
    structure_number(out, (i + 1) % SERIALS, 5);
    structure_put(out, " ");
    put_name(atom, out);
    structure_put(out, " ");
    structure_text(out, atom->residue, atom->residue.size > 3 ? 4 : 3);
    structure_put(out, atom->residue.size > 3 ? "" : " ");
    reel_sink_u8(out, (uint8_t)atom->chain_letter);
    structure_number(out, atom->residue_number % RESIDUES, 4);
    structure_put(out, "    ");
    for (unsigned k = 0; k < 3; k++) {
        structure_fixed(out, 10 * structure_value(t->positions, 3 * (size_t)i + k), 8, 3);
    }
    structure_put(out, "  1.00  0.00          ");
    structure_put(out, strlen(atom->element) == 2 ? "" : " ");
    structure_text(out, bytes_text(atom->element), strlen(atom->element) == 2 ? 2 : 1);
    structure_put(out, "\n");
}

static void put_bonds(const struct trajectory *t, struct reel_sink *out) {
    struct reel_bytes bonds = t->packed[TRAJECTORY_BONDS];
    for (size_t at = 0; t->particles < SERIALS && at + 8 <= bonds.size; at += 8) {
        uint32_t a = load_u32le(bonds.data + at), b = load_u32le(bonds.data + at + 4);
        for (unsigned way = 0; way < 2 && a < t->particles && b < t->particles && a != b; way++) {
            structure_put(out, "CONECT");
            structure_number(out, (way == 0 ? a : b) + 1, 5);
            structure_number(out, (way == 0 ? b : a) + 1, 5);
            structure_put(out, "\n");
        }
    }
}

static bool pdb_head(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    const struct trajectory *t = w->totals;
    if (!trajectory_survey(w, &(struct trajectory_needs){.topology = true, .limit_nm = LIMIT_NM}, err)) {
        return false;
    }
    if (t->has_box) {
        put_box(t, out);
    }
    uint32_t chain = 0;
    for (uint32_t i = 0; i < t->particles; i++) {
        struct molecule_atom atom = molecule_atom_of(t, i);
        if (i > 0 && atom.chain != chain) {
            structure_put(out, "TER\n");
        }
        put_atom(t, i, &atom, out);
        chain = atom.chain;
    }
    structure_put(out, "TER\n");
    put_bonds(t, out);
    structure_put(out, "END\n");
    return true;
}

const struct reel_writer reel_writer_pdb = {
    .name = "pdb",
    .extension = ".pdb",
    .media_type = "chemical/x-pdb",
    TRAJECTORY_WRITER,
    .version = 1,
    .accepts_all = structure_accepts_all,
    .head = pdb_head,
    .messages = structure_messages,
};
