/* The keys of NanoVer's frames, their types and units. A path is "frame." and the key, which may contain dots. */
#include "formats/nanover/payload.h"

#define NUMBER(key, type, unit)                                                                                        \
    { "frame." key, type, unit, true }
#define OTHER(key, type, unit)                                                                                         \
    { "frame." key, type, unit, false }
#define BOX(element) NUMBER("system.box.vectors." element, "float32", "nm")

static const struct reel_field frame_fields[] = {
    NUMBER("frame.index", "int", ""),
    NUMBER("server.timestamp", "float64", "s"),
    NUMBER("system.simulation.time", "float64", "ps"),
    NUMBER("system.simulation.counter", "int", ""),
    NUMBER("system.reset.counter", "float64", ""),
    OTHER("system.simulation.name", "string", ""),
    OTHER("system.simulation.exception", "string", ""),
    NUMBER("system.temperature", "float64", "K"),
    BOX("0.0"),
    BOX("0.1"),
    BOX("0.2"),
    BOX("1.0"),
    BOX("1.1"),
    BOX("1.2"),
    BOX("2.0"),
    BOX("2.1"),
    BOX("2.2"),
    NUMBER("energy.kinetic", "float64", "kJ/mol"),
    NUMBER("energy.potential", "float64", "kJ/mol"),
    NUMBER("energy.user.total", "float64", "kJ/mol"),
    NUMBER("energy.total", "float64", "kJ/mol"),
    NUMBER("forces.user.work_done", "float64", "kJ/mol"),
    OTHER("forces.user.index", "uint32[]", ""),
    OTHER("forces.user.sparse", "float32[][3]", "kJ/mol/nm"),
    NUMBER("particle.count", "int", ""),
    OTHER("particle.positions", "float32[][3]", "nm"),
    OTHER("particle.velocities", "float32[][3]", "nm/ps"),
    OTHER("particle.forces", "float32[][3]", "kJ/mol/nm"),
    OTHER("particle.forces.system", "float32[][3]", "kJ/mol/nm"),
    OTHER("particle.elements", "uint8[]", ""),
    OTHER("particle.colors", "uint8[][4]", ""),
    OTHER("particle.names", "string[]", ""),
    OTHER("particle.residues", "uint32[]", ""),
    NUMBER("residue.count", "int", ""),
    OTHER("residue.names", "string[]", ""),
    OTHER("residue.ids", "string[]", ""),
    OTHER("residue.chains", "uint32[]", ""),
    NUMBER("chain.count", "int", ""),
    OTHER("chain.names", "string[]", ""),
    OTHER("bond.pairs", "uint32[][2]", ""),
    OTHER("bond.orders", "uint8[]", ""),
};
static const struct reel_field state_fields[] = {
    {"state.updates", "map", "", false},
    {"state.removals", "string[]", "", false},
};

static bool visit_all(const struct reel_field *fields, size_t n, reel_field_visit visit, void *context) {
    for (size_t i = 0; i < n; i++) {
        if (!visit(context, &fields[i])) {
            return false;
        }
    }
    return true;
}
bool nanover_frame_fields(reel_field_visit visit, void *context) {
    return visit_all(frame_fields, sizeof frame_fields / sizeof frame_fields[0], visit, context);
}
bool nanover_state_fields(reel_field_visit visit, void *context) {
    return visit_all(state_fields, sizeof state_fields / sizeof state_fields[0], visit, context);
}
