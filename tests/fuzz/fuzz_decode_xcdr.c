/* Fuzzes messages in CDR of every version, by definitions that have all that a layout may: u8 which definition, then
 * the payload. */
#include "fuzz_decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
    const char *encoding, *type, *text;
} kinds[] = {
    {"omgidl", "T",
     "enum E { A, B }; struct In { octet a; double b; }; @appendable struct Ap { In in; string s; }; @mutable struct "
     "Mu { "
     "@id(3) octet a; @optional In b; sequence<short> c; @id(1) Ap d; }; union U switch (E) { case A: long l; case B: "
     "In "
     "i; default: sequence<In> s; }; @mutable union V switch (octet) { case 1: Mu m; default: string s; }; struct T { "
     "octet a; sequence<In> l; Mu m; U u; V v; @optional double d; map<string, In> n; In g[2][2]; sequence<E> e; "
     "sequence<sequence<long>> q; long double z; wstring w; Ap p[2]; };"},
    {"omgidl", "T",
     "@mutable struct T { @id(9) octet a; sequence<string> s; map<long, double> m; sequence<double> d; @optional "
     "boolean "
     "o; T2 t; }; @final struct T2 { @optional long x; @optional T3 y; }; @final struct T3 { wchar c; };"},
    {"ros2msg", "p/msg/T",
     "uint8 a\nfloat64 b\nstring s\nint64[] v\np/In[] l\np/In[2] m\nbuiltin_interfaces/Time "
     "t\nbuiltin_interfaces/Duration[] "
     "d\nwstring[<=3] w\n===\nMSG: p/In\nuint8 x\nuint16[3] y\nstring[] z\n"},
    {"omgidl", "T", "struct T { In a[4294967295]; In b[3][0]; sequence<In> c; }; struct In { }; "},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

static const struct reel_decoder *open_kind(unsigned kind) {
    static struct reel_schema schemas[KINDS]; /* a decoder needs its channel */
    static struct reel_channel channels[KINDS];
    struct reel_error err = {0};
    schemas[kind] = (struct reel_schema){
        .name = kinds[kind].type, .encoding = kinds[kind].encoding, .hash = "", .data = bytes_text(kinds[kind].text)};
    channels[kind] = (struct reel_channel){
        .name = "/a", .type = kinds[kind].type, .encoding = "cdr", .schemas = &schemas[kind], .n_schemas = 1};
    const struct reel_decoder *d = reel_decoder_open(&channels[kind], &err);
    fuzz_must(d != NULL, err.text);
    return d;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct reel_decoder *opened[KINDS]; /* each once: opening takes longer than decoding */
    if (size == 0) {
        return 0;
    }
    const unsigned kind = data[0] % KINDS;
    opened[kind] = opened[kind] ? opened[kind] : open_kind(kind);
    return fuzz_decode_opened(opened[kind], bytes_of(data + 1, size - 1));
}
