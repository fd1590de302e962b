/* Walks the records of a 1.2 bag from front to back; payloads are skipped. The fast path, shared with text-header logs,
 * handles records whose header is known byte for byte. A template only saves parsing: its values are those that
 * rosbag_v1_record_read() would return. */
#include "formats/rosbag/v1.h"

#include "base/bytes.h"
#include "base/cursor.h"

#include <stdio.h>

enum { PROGRESS_STEP = 4 << 20 };

#define FIELD(x) ROSRECORD_NAME(struct rosbag_v1_fields, x)
static const struct rosrecord_name known[] = {
    FIELD(topic), FIELD(md5),      FIELD(type), FIELD(op),    FIELD(sec),      FIELD(nsec),
    FIELD(def),   FIELD(latching), FIELD(ver),  FIELD(count), FIELD(callerid), FIELD(index_pos),
};
#undef FIELD

bool rosbag_v1_is_extra(struct reel_bytes name) {
    struct rosbag_v1_fields ignored;
    return !ros_wrap_is_field(name) && !rosrecord_keep(known, sizeof known / sizeof *known, &ignored, name, name);
}

static bool fields_read(struct reel_bytes header, struct rosbag_v1_fields *f) {
    *f = (struct rosbag_v1_fields){.all = header};
    struct cursor c = cursor_of(header);
    struct reel_bytes name, value;
    while (rosrecord_field(&c, &name, &value)) {
        if (bytes_is(name, ROS_WRAP_NUMBER)) {
            f->number = value;
        } else if (!rosrecord_keep(known, sizeof known / sizeof *known, f, name, value) && !ros_wrap_is_field(name)) {
            f->unknown++;
            f->unknown_bytes += (uint32_t)(4 + name.size + 1 + value.size);
            f->unknown_name = name;
            f->odd |= !rosrecord_printable(name);
        }
    }
    return !c.failed;
}

bool rosbag_v1_record_read(struct window *window, uint64_t at, struct rosbag_v1_record *record,
                           struct reel_error *err) {
    const struct rosrecord_bounds bounds = {window->source->size, "the file"};
    struct rosrecord r;
    bool good = rosrecord_head(window, at, &bounds, &r, err);
    *record = (struct rosbag_v1_record){.at = at, .head = r.head, .size = r.size, .cut = r.cut};
    if (!good) {
        return false;
    }
    if (!fields_read(r.header, &record->fields) || record->fields.op.size != 1) {
        return reel_fail(err, REEL_DAMAGED, "record at %llu: its header is not a list of fields with an op",
                         (unsigned long long)at);
    }
    record->op = record->fields.op.data[0];
    good = rosrecord_fits(&r, &bounds, err);
    record->cut = r.cut;
    return good;
}

bool rosbag_v1_progress(struct rosbag_v1 *bag, uint64_t at, struct reel_error *err) {
    if (at < bag->report_at) {
        return true;
    }
    bag->report_at = at + PROGRESS_STEP;
    return reel_scan_progress(bag->scan, at, bag->source->size, err);
}

bool rosbag_v1_message(struct rosbag_v1 *bag, struct rosbag_v1_channel *channel, const struct rosbag_v1_place *place,
                       uint32_t sec, uint32_t nsec, struct reel_error *err) {
    bag->messages++;
    bag->carried += nsec >= ROSBAG_V1_NS_PER_SEC;
    struct rosbag_v1_topic *topic = channel->topic;
    if (topic->messages++ == 0) {
        topic->first_at = place->at;
    }
    topic->sum += rosbag_v1_entry_hash(sec, nsec, place->at);
    const struct reel_entry entry = {
        .time_ns = rosbag_v1_time(sec, nsec),
        .offset = place->at,
        .channel = channel->model.id,
        .head = place->head,
        .size = place->size,
        .extra = {place->unknown_bytes},
    };
    return reel_scan_entry(bag->scan, &entry, err);
}

/* ---- templates ---- */

static inline bool template_fits(const struct rosbag_v1_template *t, const uint8_t *p, size_t left) {
    uint64_t differ = 0;
    if (left < t->size + 4 || left < t->words * sizeof *t->bits) {
        return false;
    }
    for (uint32_t i = 0; i < t->words; i++) {
        differ |= (load_u64le(p + 8 * i) ^ t->bits[i]) & t->mask[i];
    }
    return differ == 0;
}

/* Of a header with the layout of `t`. Two that fall together cost time and no more: a template is compared. */
static size_t template_slot(const struct rosbag_v1 *bag, const struct rosbag_v1_template *t, const uint8_t *p) {
    uint64_t hash = 0, key = bag->seed;
    for (uint32_t i = 0; i < t->words; i++, key += UINT64_C(0x9e3779b97f4a7c15)) {
        hash += (load_u64le(p + 8 * i) & t->mask[i]) * (key | 1);
    }
    return hash >> (64 - ROSBAG_V1_TEMPLATE_BITS);
}

/* The template of the framed record at p, when it is not the one guessed. */
static struct rosbag_v1_template *template_find(const struct rosbag_v1 *bag, const uint8_t *p, size_t left) {
    uint32_t header = bag->framed && left >= 4 ? load_u32le(p) : UINT32_MAX;
    const struct rosbag_v1_template *layout =
        header <= ROSBAG_V1_TEMPLATE_MAX - 4 ? bag->templates->layouts[header + 4] : NULL;
    if (!layout || left < layout->words * sizeof *layout->bits) {
        return NULL;
    }
    struct rosbag_v1_template *t = bag->templates->slots[template_slot(bag, layout, p)];
    return t && template_fits(t, p, left) ? t : NULL;
}

/* The template of the record after `last`: the one that followed it last time, or another. */
static inline struct rosbag_v1_template *template_next(struct rosbag_v1 *bag, struct rosbag_v1_template *last,
                                                       const uint8_t *p, size_t left) {
    struct rosbag_v1_template *guess = last->next ? last->next : last;
    bool random = bag->templates->random;
    if (!random && template_fits(guess, p, left)) {
        return guess;
    }
    struct rosbag_v1_template *t = template_find(bag, p, left);
    t = !t && random && template_fits(guess, p, left) ? guess : t;
    bag->templates->random = t != guess;
    last->next = t ? t : last->next;
    return t;
}

/* `padded`: the header, then zeros. */
static void template_fill(struct rosbag_v1_template *t, const uint8_t *padded) {
    uint8_t mask[ROSBAG_V1_TEMPLATE_MAX] = {0};
    memset(mask, 0xff, t->size);
    memset(mask + t->sec_at, 0, 4);
    memset(mask + t->nsec_at, 0, 4);
    t->words = (t->size + 7) / 8;
    for (uint32_t i = 0; i < t->words; i++) {
        t->bits[i] = load_u64le(padded + 8 * i);
        t->mask[i] = load_u64le(mask + 8 * i);
    }
}

bool rosbag_v1_learn(struct rosbag_v1 *bag, const struct rosbag_v1_template *seen, const uint8_t *bytes,
                     struct reel_error *err) {
    struct rosbag_v1_template fresh = *seen;
    uint8_t padded[ROSBAG_V1_TEMPLATE_MAX] = {0};
    uint32_t apart = seen->sec_at < seen->nsec_at ? seen->nsec_at - seen->sec_at : seen->sec_at - seen->nsec_at;
    if (seen->size > ROSBAG_V1_TEMPLATE_MAX || apart < 4) {
        return true;
    }
    memcpy(padded, bytes, seen->size);
    template_fill(&fresh, padded);
    struct rosbag_v1_template **slot = &bag->templates->slots[template_slot(bag, &fresh, padded)];
    struct rosbag_v1_template *t = *slot;
    if (!t && !(t = *slot = rosbag_v1_keep(bag, sizeof *t, err))) {
        return false;
    }
    fresh.next = t->next;
    *t = fresh;
    if (bag->framed) {
        bag->templates->layouts[t->size] = t;
    }
    if (bag->templates->last) {
        bag->templates->last->next = t;
    }
    bag->templates->last = t;
    return true;
}

bool rosbag_v1_walk_known(struct rosbag_v1 *bag, struct reel_error *err) {
    size_t left = window_held(&bag->window, bag->at);
    const uint8_t *p = bag->window.buffer + (left ? bag->at - bag->window.offset : 0);
    struct rosbag_v1_template *last = bag->templates->last;
    uint64_t size = bag->source->size;
    while (last && left > 0) {
        struct rosbag_v1_template *t = template_next(bag, last, p, left);
        if (!t) {
            break;
        }
        const struct rosbag_v1_place place = {
            .at = bag->at, .head = t->size + 4, .size = load_u32le(p + t->size), .unknown_bytes = t->unknown_bytes};
        if (place.size > size - bag->at - place.head) {
            break; /* the parsing path reports the problem */
        }
        if (!rosbag_v1_message(bag, t->channel, &place, load_u32le(p + t->sec_at), load_u32le(p + t->nsec_at), err)) {
            return false;
        }
        bag->unknown_fields += t->unknown;
        bag->last = bag->at + place.head;
        uint64_t step = (uint64_t)place.head + place.size;
        bag->at += step;
        last = t;
        left = step < left ? left - (size_t)step : 0;
        p += left ? step : 0;
    }
    bag->templates->last = last;
    return true;
}

/* ---- one record, parsed ---- */

static void loss_of(struct rosbag_v1 *bag, const struct rosbag_v1_record *r, const char *what) {
    reel_scan_finding(bag->scan, REEL_LOSS, 0, r->at, (uint64_t)r->head + r->size, "record at %llu: %s",
                      (unsigned long long)r->at, what);
}

/* Skips the wrapper's head, so that the payload is that of the channel. */
static bool take_wrapped(struct rosbag_v1 *bag, struct rosbag_v1_channel *channel, const struct rosbag_v1_record *r,
                         struct reel_error *err) {
    struct rosbag_v1_place inner = rosbag_v1_place_of(r);
    uint32_t sec = load_u32le(r->fields.sec.data), nsec = load_u32le(r->fields.nsec.data); /* before the window moves */
    const uint8_t *p = r->size >= ROS_WRAP_HEAD ? window_at(&bag->window, r->at + r->head, ROS_WRAP_HEAD, err) : NULL;
    if (!p && r->size >= ROS_WRAP_HEAD) {
        return false;
    }
    if (p && ros_wrap_fits(p, r->size)) {
        inner.head += ROS_WRAP_HEAD;
        inner.size -= ROS_WRAP_HEAD;
    } else if (bag->unwrapped++ == 0) {
        bag->unwrapped_at = r->at;
    }
    return rosbag_v1_message(bag, channel, &inner, sec, nsec, err);
}

bool rosbag_v1_is_message(const struct rosbag_v1_record *r) {
    const struct rosbag_v1_fields *f = &r->fields;
    return r->op == ROSBAG_V1_MESSAGE && f->topic.data && f->sec.size == 4 && f->nsec.size == 4 &&
           rosbag_v1_names_fit(f);
}

static bool rosbag_v1_walk_take_message(struct rosbag_v1 *bag, const struct rosbag_v1_record *r,
                                        struct reel_error *err) {
    const struct rosbag_v1_fields *f = &r->fields;
    if (!rosbag_v1_is_message(r)) {
        loss_of(bag, r, "a message without a proper topic and stamp");
        return true;
    }
    struct rosbag_v1_channel *channel = rosbag_v1_channel_of(bag, f, r->at, err);
    if (channel && channel->wrapped) {
        return take_wrapped(bag, channel, r, err);
    }
    const struct rosbag_v1_place place = rosbag_v1_place_of(r);
    const uint8_t *start = channel ? window_at(&bag->window, r->at, r->head, err) : NULL; /* is held: moves nothing */
    if (!start || !rosbag_v1_message(bag, channel, &place, load_u32le(f->sec.data), load_u32le(f->nsec.data), err)) {
        return false;
    }
    const struct rosbag_v1_template seen = {
        .channel = channel,
        .size = r->head - 4,
        .sec_at = (uint32_t)(f->sec.data - start),
        .nsec_at = (uint32_t)(f->nsec.data - start),
        .unknown = f->unknown,
        .unknown_bytes = f->unknown_bytes,
    };
    return rosbag_v1_learn(bag, &seen, start, err);
}

static bool take_definition(struct rosbag_v1 *bag, const struct rosbag_v1_record *r, struct reel_error *err) {
    if ((!r->fields.topic.data && !r->fields.type.data) || !rosbag_v1_names_fit(&r->fields)) {
        loss_of(bag, r, "a definition without a proper topic or type");
        return true;
    }
    return rosbag_v1_define(bag, &r->fields, r->at, err);
}

/* Unknown fields of the file header become metadata of the recording. */
static bool keep_header_fields(struct rosbag_v1 *bag, const struct rosbag_v1_record *r, struct reel_error *err) {
    const uint8_t *start = window_at(&bag->window, r->at, r->head, err);
    if (!start) {
        return false;
    }
    struct cursor c = cursor_of(bytes_of(start + 4, r->head - ROSBAG_V1_RECORD_MIN));
    struct reel_bytes key, value;
    for (unsigned kept = 0; kept < REEL_METADATA_MAX && rosrecord_field(&c, &key, &value);) {
        if (key.size == 0 || key.size > REEL_TEXT_MAX || bytes_is(key, "op") || bytes_is(key, "index_pos")) {
            continue;
        }
        const char *text = reel_scan_text(bag->scan, key, err);
        if (!text || !reel_scan_metadata(bag->scan, text, value, err)) {
            return false;
        }
        kept++;
    }
    return true;
}

static bool take_file_header(struct rosbag_v1 *bag, const struct rosbag_v1_record *r, struct reel_error *err) {
    if (bag->has_header || r->at != sizeof ROSBAG_V1_LINE_12 - 1) {
        reel_scan_finding(bag->scan, REEL_WARNING, 0, r->at, 0, "another file header, at %llu, is not used",
                          (unsigned long long)r->at);
        return true;
    }
    bag->has_header = true;
    if (r->fields.index_pos.size == 8) {
        bag->index_pos = load_u64le(r->fields.index_pos.data);
    } else {
        reel_scan_finding(bag->scan, REEL_WARNING, 0, r->at, 0, "the file header has no proper index_pos");
    }
    return keep_header_fields(bag, r, err);
}

bool rosbag_v1_take(struct rosbag_v1 *bag, const struct rosbag_v1_record *r, struct reel_error *err) {
    if (r->op != ROSBAG_V1_FILE_HEADER && r->fields.unknown > 0) {
        if (bag->unknown_fields == 0) {
            bag->unknown_fields_at = r->at;
            struct reel_bytes name = r->fields.odd ? bytes_text("(unprintable)") : r->fields.unknown_name;
            snprintf(bag->unknown_name, sizeof bag->unknown_name, "%.*s", (int)(name.size < 63 ? name.size : 63),
                     (const char *)name.data);
        }
        bag->unknown_fields += r->fields.unknown;
    }
    switch (r->op) {
    case ROSBAG_V1_MESSAGE:
        return rosbag_v1_walk_take_message(bag, r, err);
    case ROSBAG_V1_DEFINITION:
        return take_definition(bag, r, err);
    case ROSBAG_V1_FILE_HEADER:
        return take_file_header(bag, r, err);
    case ROSBAG_V1_INDEX:
        bag->index_at = bag->index_at == ROSBAG_V1_NOWHERE ? r->at : bag->index_at;
        return true;
    default:
        if (bag->unknown_ops++ == 0) {
            bag->unknown_op = r->op;
            bag->unknown_ops_at = r->at;
        }
        return true;
    }
}

bool rosbag_v1_walk(struct rosbag_v1 *bag, struct reel_error *err) {
    while (bag->at < bag->source->size) {
        if (!rosbag_v1_progress(bag, bag->at, err) || !rosbag_v1_walk_known(bag, err)) {
            return false;
        }
        if (bag->at >= bag->source->size) {
            break;
        }
        struct rosbag_v1_record record;
        struct reel_error why = {0};
        if (rosbag_v1_record_read(&bag->window, bag->at, &record, &why)) {
            if (!rosbag_v1_take(bag, &record, err)) {
                return false;
            }
            bag->last = bag->at + record.head;
            bag->at = bag->last + record.size;
        } else if (why.code != REEL_DAMAGED) {
            return reel_error_pass(err, &why);
        } else if (!rosbag_v1_resume(bag, why.text, err)) {
            return false;
        }
    }
    return true;
}
