/* Writes a large ROS bag for the bench: 1.2 as recorders of 2009 left it (no index, no file header), or 2.0 as today's
 * leave it (768 KiB chunks, not compressed). Rule: for the same numbers both hold the same messages. Ten topics at an
 * even rate, in shuffled order with jittered times. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/bytes.h"
#include "reel/bytes.h"

enum { TOPICS = 10, POOL_BYTES = 1 << 20, FLUSH_BYTES = 4 << 20, CHUNK_BYTES = 768 << 10, FIRST_SECOND = 1262304000 };
#define TYPE "bench_msgs/Blob"
#define DEFINITION "uint8[] data\n"
#define MD5 "f43a8e1b362b75baa741461b46adc7e0"

struct out { /* bytes not yet written, or a piece being made */
    uint8_t *data;
    size_t size, room;
    int fd;
    uint64_t flushed;
};

static void die(const char *what) {
    perror(what);
    exit(1);
}
static void out_flush(struct out *o) {
    for (size_t done = 0; done < o->size;) {
        ssize_t n = write(o->fd, o->data + done, o->size - done);
        if (n < 0) {
            die("write");
        }
        done += (size_t)n;
    }
    o->flushed += o->size;
    o->size = 0;
}
static uint8_t *out_room(struct out *o, size_t size) {
    if (o->size + size > o->room) {
        o->room = (o->size + size) * 2;
        o->data = realloc(o->data, o->room);
        if (!o->data) {
            die("realloc");
        }
    }
    o->size += size;
    return o->data + o->size - size;
}
static void out_bytes(struct out *o, const void *data, size_t size) {
    memcpy(out_room(o, size), data, size);
}
static void out_u32(struct out *o, uint32_t v) {
    store_u32le(out_room(o, 4), v);
}

/* A record is header_begin(), fields, header_end(), its data's length and its data. */
static size_t header_begin(struct out *o) {
    out_u32(o, 0);
    return o->size;
}
static void header_end(struct out *o, size_t begin) {
    store_u32le(o->data + begin - 4, (uint32_t)(o->size - begin));
}
static void field(struct out *o, const char *name, const void *value, size_t size) {
    out_u32(o, (uint32_t)(strlen(name) + 1 + size));
    out_bytes(o, name, strlen(name));
    out_bytes(o, "=", 1);
    out_bytes(o, value, size);
}
static void field_text(struct out *o, const char *name, const char *value) {
    field(o, name, value, strlen(value));
}
static void field_number(struct out *o, const char *name, uint64_t value, size_t size) {
    uint8_t b[8];
    store_u64le(b, value);
    field(o, name, b, size);
}
static void op(struct out *o, uint8_t value) {
    field(o, "op", &value, 1);
}

struct message {
    uint32_t topic, sec, nsec;
    uint64_t number;
};

/* What is to be written, and the state of its making. */
struct bag {
    uint64_t count, period_ns;
    uint32_t payload;
    uint64_t next, random;
    uint8_t order[TOPICS], *pool;
    char topics[TOPICS][16];
};

static uint64_t bag_random(struct bag *b) {
    b->random ^= b->random << 13;
    b->random ^= b->random >> 7;
    b->random ^= b->random << 17;
    return b->random;
}
static void bag_shuffle(struct bag *b) {
    for (uint32_t i = TOPICS - 1; i > 0; i--) {
        uint32_t j = (uint32_t)(bag_random(b) % (i + 1));
        uint8_t keep = b->order[i];
        b->order[i] = b->order[j];
        b->order[j] = keep;
    }
}
static bool bag_next(struct bag *b, struct message *m) {
    if (b->next == b->count) {
        return false;
    }
    if (b->next % TOPICS == 0) {
        bag_shuffle(b);
    }
    uint64_t ns = b->next * b->period_ns + bag_random(b) % b->period_ns;
    *m = (struct message){b->order[b->next % TOPICS], (uint32_t)(FIRST_SECOND + ns / 1000000000),
                          (uint32_t)(ns % 1000000000), b->next};
    b->next++;
    return true;
}
static void bag_payload(const struct bag *b, struct out *o, const struct message *m) {
    out_u32(o, b->payload);
    uint8_t *p = out_room(o, b->payload);
    store_u32le(p, b->payload - 4);
    for (uint32_t done = 4; done < b->payload;) {
        uint32_t piece = b->payload - done < POOL_BYTES / 2 ? b->payload - done : POOL_BYTES / 2;
        memcpy(p + done, b->pool + (m->number * 97 + done) % (POOL_BYTES / 2), piece);
        done += piece;
    }
    store_u64le(p + 4, m->number); /* so that no two are equal */
}

static void message12(const struct bag *b, struct out *o, const struct message *m) {
    size_t begin = header_begin(o);
    field_text(o, "md5", MD5);
    field_number(o, "nsec", m->nsec, 4);
    op(o, 2);
    field_number(o, "sec", m->sec, 4);
    field_text(o, "topic", b->topics[m->topic]);
    field_text(o, "type", TYPE);
    header_end(o, begin);
    bag_payload(b, o, m);
}
static void definition12(const struct bag *b, struct out *o, uint32_t topic) {
    size_t begin = header_begin(o);
    field_text(o, "def", DEFINITION);
    field_text(o, "md5", MD5);
    op(o, 1);
    field_text(o, "topic", b->topics[topic]);
    field_text(o, "type", TYPE);
    header_end(o, begin);
    out_u32(o, 0);
}
static void write12(struct bag *b, struct out *o) {
    bool defined[TOPICS] = {false};
    struct message m;
    out_bytes(o, "#ROSRECORD V1.2\n", 16);
    while (bag_next(b, &m)) {
        if (!defined[m.topic]) {
            definition12(b, o, m.topic);
            defined[m.topic] = true;
        }
        message12(b, o, &m);
        if (o->size >= FLUSH_BYTES) {
            out_flush(o);
        }
    }
    out_flush(o);
}

/* 2.0: the chunk being made, its index records, and the table of chunks for the end. */
struct chunks {
    struct out raw, index[TOPICS], infos;
    uint32_t counts[TOPICS], n_chunks;
    struct message first, last;
};

static void connection20(const struct bag *b, struct out *o, uint32_t topic) {
    size_t begin = header_begin(o);
    field_number(o, "conn", topic, 4);
    op(o, 7);
    field_text(o, "topic", b->topics[topic]);
    header_end(o, begin);
    begin = header_begin(o); /* the data is a header block, too */
    field_text(o, "md5sum", MD5);
    field_text(o, "message_definition", DEFINITION);
    field_text(o, "topic", b->topics[topic]);
    field_text(o, "type", TYPE);
    header_end(o, begin);
}
static void field_time(struct out *o, const char *name, const struct message *m) {
    field_number(o, name, (uint64_t)m->nsec << 32 | m->sec, 8);
}
static void message20(const struct bag *b, struct chunks *c, const struct message *m) {
    out_u32(&c->index[m->topic], m->sec);
    out_u32(&c->index[m->topic], m->nsec);
    out_u32(&c->index[m->topic], (uint32_t)c->raw.size);
    c->counts[m->topic]++;
    size_t begin = header_begin(&c->raw);
    field_number(&c->raw, "conn", m->topic, 4);
    op(&c->raw, 2);
    field_time(&c->raw, "time", m);
    header_end(&c->raw, begin);
    bag_payload(b, &c->raw, m);
}
static void info20(struct chunks *c, uint64_t chunk_pos) {
    struct out *o = &c->infos;
    uint32_t present = 0;
    for (uint32_t i = 0; i < TOPICS; i++) {
        present += c->counts[i] > 0;
    }
    size_t begin = header_begin(o);
    field_number(o, "chunk_pos", chunk_pos, 8);
    field_number(o, "count", present, 4);
    field_time(o, "end_time", &c->last);
    op(o, 6);
    field_time(o, "start_time", &c->first);
    field_number(o, "ver", 1, 4);
    header_end(o, begin);
    out_u32(o, present * 8);
    for (uint32_t i = 0; i < TOPICS; i++) {
        if (c->counts[i] > 0) {
            out_u32(o, i);
            out_u32(o, c->counts[i]);
        }
    }
}
static void close_chunk(struct chunks *c, struct out *o) {
    uint64_t chunk_pos = o->flushed + o->size;
    size_t begin = header_begin(o);
    field_text(o, "compression", "none");
    op(o, 5);
    field_number(o, "size", c->raw.size, 4);
    header_end(o, begin);
    out_u32(o, (uint32_t)c->raw.size);
    out_bytes(o, c->raw.data, c->raw.size);
    for (uint32_t i = 0; i < TOPICS; i++) {
        if (c->counts[i] == 0) {
            continue;
        }
        begin = header_begin(o);
        field_number(o, "conn", i, 4);
        field_number(o, "count", c->counts[i], 4);
        op(o, 4);
        field_number(o, "ver", 1, 4);
        header_end(o, begin);
        out_u32(o, (uint32_t)c->index[i].size);
        out_bytes(o, c->index[i].data, c->index[i].size);
        c->index[i].size = 0;
    }
    info20(c, chunk_pos);
    memset(c->counts, 0, sizeof c->counts);
    c->raw.size = 0;
    c->n_chunks++;
    out_flush(o);
}
static void file_header20(struct out *o, uint64_t index_pos, uint32_t connections, uint32_t n_chunks) {
    out_bytes(o, "#ROSBAG V2.0\n", 13);
    size_t begin = header_begin(o);
    field_number(o, "chunk_count", n_chunks, 4);
    field_number(o, "conn_count", connections, 4);
    field_number(o, "index_pos", index_pos, 8);
    op(o, 3);
    header_end(o, begin);
    uint32_t padding = (uint32_t)(4096 - (o->size - begin));
    out_u32(o, padding);
    memset(out_room(o, padding), ' ', padding);
}
static void write20(struct bag *b, struct out *o) {
    struct chunks c = {0};
    bool connected[TOPICS] = {false};
    struct message m;
    file_header20(o, 0, 0, 0);
    while (bag_next(b, &m)) {
        if (c.raw.size == 0) {
            c.first = m;
        }
        if (!connected[m.topic]) {
            connection20(b, &c.raw, m.topic);
            connected[m.topic] = true;
        }
        message20(b, &c, &m);
        c.last = m;
        if (c.raw.size > CHUNK_BYTES) {
            close_chunk(&c, o);
        }
    }
    if (c.raw.size > 0) {
        close_chunk(&c, o);
    }
    out_flush(o);
    uint64_t index_pos = o->flushed;
    uint32_t connections = 0;
    for (uint32_t i = 0; i < TOPICS; i++) {
        if (connected[i]) {
            connection20(b, o, i);
            connections++;
        }
    }
    out_bytes(o, c.infos.data, c.infos.size);
    out_flush(o);
    file_header20(o, index_pos, connections, c.n_chunks);
    if (pwrite(o->fd, o->data, o->size, 0) != (ssize_t)o->size) {
        die("pwrite");
    }
    for (uint32_t i = 0; i < TOPICS; i++) {
        free(c.index[i].data);
    }
    free(c.raw.data);
    free(c.infos.data);
}

/* Half of it is new, half has been seen shortly before: to lz4 and zstd it is neither noise nor nothing. */
static void pool_fill(struct bag *b) {
    enum { BLOCK = 64, NEAR = 32 << 10 };
    for (uint32_t at = 0; at < POOL_BYTES; at += BLOCK) {
        if (at >= NEAR && bag_random(b) % 2 == 0) {
            memcpy(b->pool + at, b->pool + at - (1 + bag_random(b) % (NEAR / BLOCK)) * BLOCK, BLOCK);
            continue;
        }
        for (uint32_t i = 0; i < BLOCK; i += 8) {
            store_u64le(b->pool + at + i, bag_random(b));
        }
    }
}

static struct bag bag_new(uint64_t bytes, uint32_t payload, uint64_t rate) {
    struct bag b = {.count = 1,
                    .period_ns = 1000000000 / rate,
                    .payload = payload,
                    .random = 88172645463325252,
                    .pool = malloc(POOL_BYTES)};
    if (!b.pool) {
        die("malloc");
    }
    pool_fill(&b);
    for (uint32_t i = 0; i < TOPICS; i++) {
        b.order[i] = (uint8_t)i;
        snprintf(b.topics[i], sizeof b.topics[i], "/sensor%u/data", i);
    }
    struct out one = {0};
    message12(&b, &one, &(struct message){0});
    b.count = bytes / one.size;
    free(one.data);
    return b;
}

int main(int argc, char **argv) {
    const char *usage = "usage: make_bag 1.2|2.0 BYTES PAYLOAD MESSAGES_PER_SECOND OUT.bag\nBYTES is the size as 1.2; "
                        "prints the count of messages\n";
    uint64_t bytes = argc == 6 ? strtoull(argv[2], NULL, 10) : 0;
    uint64_t payload = argc == 6 ? strtoull(argv[3], NULL, 10) : 0, rate = argc == 6 ? strtoull(argv[4], NULL, 10) : 0;
    if (bytes < 1000 || payload < 12 || payload > 64 << 20 || rate < 1 || rate > 1000000) {
        fputs(usage, stderr);
        return 2;
    }
    struct bag b = bag_new(bytes, (uint32_t)payload, rate);
    struct out o = {.fd = open(argv[5], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)};
    if (o.fd < 0) {
        die(argv[5]);
    }
    if (strcmp(argv[1], "2.0") == 0) {
        write20(&b, &o);
    } else {
        write12(&b, &o);
    }
    if (close(o.fd) != 0) {
        die("close");
    }
    printf("%lu\n", b.count);
    free(o.data);
    free(b.pool);
    return 0;
}
