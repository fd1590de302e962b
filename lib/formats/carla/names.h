/* Names for CARLA's numbers, as shown to users. */
#ifndef REEL_FORMATS_CARLA_NAMES_H
#define REEL_FORMATS_CARLA_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "formats/carla/layout.h"

enum { CARLA_DOORS = 7, CARLA_LIGHTS = 11 };

/* NULL-terminated, by number. */
extern const char *const carla_type_names[]; /* types of actors, as of 0.9.12 */
extern const char *const carla_state_names[];
extern const char *const carla_scene_names[];
extern const char *const carla_door_names[];
extern const char *const carla_attribute_names[]; /* counted from 0 */

/* In the order in which CARLA prints them. */
struct carla_light {
    const char *name;
    uint32_t bit;
};
extern const struct carla_light carla_lights[CARLA_LIGHTS];

static inline const char *carla_name_of(const char *const *names, unsigned number) {
    for (unsigned i = 0; names[i]; i++) {
        if (i == number) {
            return names[i];
        }
    }
    return "unknown";
}
static inline const char *carla_type_name(unsigned type, const struct carla_layout *layout) {
    unsigned invalid = layout->types == CARLA_TYPES_094 ? 4 : layout->types == CARLA_TYPES_0910 ? 5 : 6;
    return type < invalid ? carla_name_of(carla_type_names, type) : type == invalid ? "invalid" : "unknown";
}

#endif
