/* See idl_annotations.h. */
#include "formats/ros/idl_annotations.h"

#include "base/bytes.h"
#include "base/digest.h"
#include "formats/ros/definition_tree.h"

enum { ID_MASK = 0x0fffffff };

uint32_t idl_hashed_id(struct reel_bytes name) {
    uint8_t sum[DIGEST_MAX];
    digest_of(DIGEST_MD5, name, sum);
    return load_u32le(sum) & ID_MASK;
}

static struct reel_bytes idl_unquoted(struct reel_bytes text) {
    return text.size >= 2 && text.data[0] == '"' ? bytes_of(text.data + 1, text.size - 2) : bytes_of("", 0);
}

/* What the parameters of an annotation begin with: `value=` is optional there. */
static void idl_pass_name(struct idl_lexer *l) {
    struct idl_lexer ahead = *l;
    idl_next(&ahead);
    if (idl_is_word(l) && idl_is(&ahead, "=")) {
        *l = ahead;
        idl_next(l);
    }
}

/* The number in the parameters of @id, @value, @bit_bound. */
static bool idl_annotated_number(struct idl_constants *constants, struct idl_lexer l, const char *scope, int64_t least,
                                 int64_t most, int64_t *out, struct reel_error *err) {
    const struct idl_place place = {.scope = scope};
    idl_next(&l);
    idl_pass_name(&l);
    return idl_expression(constants, &l, &place, out, err) &&
           ((*out >= least && *out <= most) || idl_refuse(&l, REEL_DAMAGED, "this number is out of range", err));
}

static bool idl_numbered(struct idl_constants *constants, const struct idl_lexer *l, const char *scope,
                         struct reel_bytes name, struct idl_annotations *out, struct reel_error *err) {
    int64_t number = 0;
    if (bytes_is(name, "id")) {
        out->has_id = idl_annotated_number(constants, *l, scope, 0, ID_MASK, &number, err);
        out->id = (uint32_t)number;
        return out->has_id;
    }
    if (bytes_is(name, "bit_bound")) {
        out->bits = idl_annotated_number(constants, *l, scope, 1, 64, &number, err) ? (uint32_t)number : 0;
        return out->bits > 0;
    }
    struct reel_error ignored = {0}; /* of an enumerator it is a number, elsewhere anything */
    if (bytes_is(name, "value")) {
        if (idl_annotated_number(constants, *l, scope, INT64_MIN, INT64_MAX, &number, &ignored)) {
            out->value = number;
        } else if (ignored.code == REEL_LIMIT) { /* the next one would take as long */
            *err = ignored;
            return false;
        }
    }
    return true;
}

/* The first parameter, where it is a word or a text. */
static void idl_worded(struct idl_lexer l, struct reel_bytes name, struct idl_annotations *out) {
    idl_next(&l);
    idl_pass_name(&l);
    if (bytes_is(name, "unit") && l.token.size <= IDL_UNIT_MAX) {
        out->unit = idl_unquoted(l.token);
    } else if (bytes_is(name, "optional") || bytes_is(name, "non_serialized")) {
        bool no = idl_is(&l, "FALSE") || idl_is(&l, "false");
        out->optional = out->optional && !(no && bytes_is(name, "optional"));
        out->non_serialized = out->non_serialized && !(no && bytes_is(name, "non_serialized"));
    } else if (bytes_is(name, "hashid")) {
        out->hashed_name = idl_unquoted(l.token);
    } else if (bytes_is(name, "autoid")) {
        out->hashes_ids = idl_is(&l, "HASH");
    } else if (bytes_is(name, "extensibility")) {
        out->extensibility = idl_is(&l, "FINAL")        ? ROS_FINAL
                             : idl_is(&l, "APPENDABLE") ? ROS_APPENDABLE
                             : idl_is(&l, "MUTABLE")    ? ROS_MUTABLE
                                                        : ROS_NOT_ANNOTATED;
    }
}

static void idl_plain(struct reel_bytes name, struct idl_annotations *out) {
    out->optional |= bytes_is(name, "optional");
    out->non_serialized |= bytes_is(name, "non_serialized");
    out->hashed |= bytes_is(name, "hashid");
    out->hashes_ids |= bytes_is(name, "autoid");
    out->extensibility = bytes_is(name, "final")        ? ROS_FINAL
                         : bytes_is(name, "appendable") ? ROS_APPENDABLE
                         : bytes_is(name, "mutable")    ? ROS_MUTABLE
                                                        : out->extensibility;
}

bool idl_annotations_read(struct idl_constants *constants, struct idl_lexer *l, const char *scope,
                          struct idl_annotations *out, struct reel_error *err) {
    while (idl_accept(l, "@")) {
        struct reel_bytes name;
        if (!idl_need_name(l, &name, err)) {
            return false;
        }
        if (bytes_is(name, "annotation")) {
            idl_next(l);
        }
        idl_plain(name, out);
        bool open = idl_is(l, "(");
        if (open) {
            if (!idl_numbered(constants, l, scope, name, out, err)) {
                return false;
            }
            idl_worded(*l, name, out);
        }
        if ((open || (bytes_is(name, "annotation") && idl_is(l, "{"))) && !idl_skip_brackets(l)) {
            return idl_refuse(l, REEL_DAMAGED, "\")\" is missing", err);
        }
    }
    return true;
}
