/* See structure.h. */
#include "formats/molecules/structure.h"

#include <math.h>

static const char elements[][3] = {
    "",   "H",  "He", "Li", "Be", "B",  "C",  "N",  "O",  "F",  "Ne", "Na", "Mg", "Al", "Si", "P",  "S",
    "Cl", "Ar", "K",  "Ca", "Sc", "Ti", "V",  "Cr", "Mn", "Fe", "Co", "Ni", "Cu", "Zn", "Ga", "Ge", "As",
    "Se", "Br", "Kr", "Rb", "Sr", "Y",  "Zr", "Nb", "Mo", "Tc", "Ru", "Rh", "Pd", "Ag", "Cd", "In", "Sn",
    "Sb", "Te", "I",  "Xe", "Cs", "Ba", "La", "Ce", "Pr", "Nd", "Pm", "Sm", "Eu", "Gd", "Tb", "Dy", "Ho",
    "Er", "Tm", "Yb", "Lu", "Hf", "Ta", "W",  "Re", "Os", "Ir", "Pt", "Au", "Hg", "Tl", "Pb", "Bi", "Po",
    "At", "Rn", "Fr", "Ra", "Ac", "Th", "Pa", "U",  "Np", "Pu", "Am", "Cm", "Bk", "Cf", "Es", "Fm", "Md",
    "No", "Lr", "Rf", "Db", "Sg", "Bh", "Hs", "Mt", "Ds", "Rg", "Cn", "Nh", "Fl", "Mc", "Lv", "Ts", "Og"};

static struct reel_bytes text_at(const struct trajectory_texts *texts, uint32_t i) {
    return i < texts->n ? texts->items[i] : bytes_of("", 0);
}

static uint32_t index_at(struct reel_bytes packed, uint32_t i) {
    return (size_t)i * 4 + 4 <= packed.size ? load_u32le(packed.data + (size_t)i * 4) : 0;
}

/* The digits of a residue's id, if it is a number. */
static uint32_t number_of(struct reel_bytes id, uint32_t otherwise) {
    uint32_t number = 0;
    bool fine = id.size > 0 && id.size <= 9;
    for (size_t i = 0; fine && i < id.size; i++) {
        fine = id.data[i] >= '0' && id.data[i] <= '9';
        number = number * 10 + (uint32_t)(id.data[i] - '0');
    }
    return fine ? number : otherwise;
}

static char letter_of(struct reel_bytes name, uint32_t chain) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    bool own = name.size == 1 && name.data[0] > ' ' && name.data[0] < 127;
    return own ? (char)name.data[0] : letters[chain % (sizeof letters - 1)];
}

struct molecule_atom molecule_atom_of(const struct trajectory *t, uint32_t i) {
    struct reel_bytes numbers = t->packed[TRAJECTORY_ELEMENTS];
    uint32_t residue = index_at(t->packed[TRAJECTORY_RESIDUES], i);
    unsigned element = i < numbers.size ? numbers.data[i] : 0;
    struct molecule_atom atom = {
        .name = text_at(&t->texts[TRAJECTORY_NAMES], i),
        .residue = text_at(&t->texts[TRAJECTORY_RESIDUE_NAMES], residue),
        .element = element < sizeof elements / sizeof *elements ? elements[element] : "",
        .residue_number = number_of(text_at(&t->texts[TRAJECTORY_RESIDUE_IDS], residue), residue + 1),
        .chain = index_at(t->packed[TRAJECTORY_CHAINS], residue),
    };
    atom.name = atom.name.size > 0 ? atom.name : bytes_text(atom.element[0] ? atom.element : "X");
    atom.residue = atom.residue.size > 0 ? atom.residue : bytes_text("UNK");
    atom.chain_letter = letter_of(text_at(&t->texts[TRAJECTORY_CHAIN_NAMES], atom.chain), atom.chain);
    return atom;
}

void structure_text(struct reel_sink *out, struct reel_bytes text, unsigned width) {
    for (unsigned i = 0; i < width; i++) {
        uint8_t c = i < text.size ? text.data[i] : ' ';
        reel_sink_u8(out, i >= text.size || (c > ' ' && c < 127) ? c : '_');
    }
}

/* By integers, because printf() follows the locale. */
void structure_fixed(struct reel_sink *out, double value, unsigned width, unsigned decimals) {
    char text[40];
    unsigned at = sizeof text;
    double scale = pow(10, decimals);
    long long scaled = llround(fmin(fmax(value, -1e12), 1e12) * scale);
    unsigned long long left = (unsigned long long)(scaled < 0 ? -scaled : scaled);
    for (unsigned i = 0; i <= decimals || left > 0; i++) {
        text[--at] = (char)('0' + left % 10);
        left /= 10;
        if (i + 1 == decimals) {
            text[--at] = '.';
        }
    }
    if (scaled < 0) {
        text[--at] = '-';
    }
    unsigned size = (unsigned)sizeof text - at;
    reel_sink_fill(out, ' ', width > size ? width - size : 0);
    reel_sink_put(out, text + at, size);
}

void structure_number(struct reel_sink *out, uint64_t value, unsigned width) {
    structure_fixed(out, (double)value, width, 0);
}

bool structure_messages(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct reel_message m;
    enum reel_step step;
    (void)out;
    do {
        step = reel_write_next(w, &m, err);
    } while (step == REEL_STEP_MESSAGE);
    return step == REEL_STEP_END;
}

bool structure_accepts_all(const struct reel_stream *stream, struct reel_loss *loss) {
    reel_loss_add(loss, REEL_LOSES, NULL,
                  "of the frames only the first one with positions is written; .xtc, .trr and .dcd have all of them");
    return trajectory_accepts_all(stream, loss);
}
