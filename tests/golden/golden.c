/* Golden files: every folder golden/FORMAT/CASE holds `input.*`, a small recording with one quirk, and `expected.txt`,
 * what a correct reader finds in it. Each is scanned and dumped as text; the dump must equal expected.txt. README.md
 * says what each case requires.
 *
 * REEL_GOLDEN_WRITE=1 writes expected.txt instead of comparing: whatever the reader prints today becomes the
 * expectation. Check every line of the difference before you commit it; tests/peers/peer_golden.py checks it with
 * independent readers. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "index/scan.h"
#include "makers/tables.h"
#include "stream/stream.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

#include <cmocka.h>

#define PACK REEL_SCRATCH "/golden.pack"

enum { CASES_MAX = 512, MESSAGES_SHOWN = 48, BYTES_SHOWN = 32, HASH_TEXT = 65 };

/* --- what is printed --- */

static const char *const severities[] = {[REEL_NOTE] = "note", [REEL_WARNING] = "warning", [REEL_LOSS] = "loss"};
static const char *const codes[] = {
    [REEL_OK] = "OK",
    [REEL_NOT_MINE] = "NOT_MINE",
    [REEL_DAMAGED] = "DAMAGED",
    [REEL_UNSUPPORTED] = "UNSUPPORTED",
    [REEL_LIMIT] = "LIMIT",
    [REEL_ARGUMENT] = "ARGUMENT",
    [REEL_NOT_FOUND] = "NOT_FOUND",
    [REEL_CONFLICT] = "CONFLICT",
    [REEL_IO] = "IO",
    [REEL_NO_SPACE] = "NO_SPACE",
    [REEL_NO_MEMORY] = "NO_MEMORY",
    [REEL_CANCELLED] = "CANCELLED",
    [REEL_CHANGED] = "CHANGED",
};

/* Bytes as one line: anything but printable ASCII is printed as \xNN. Model text keeps its UTF-8. */
static void put_bytes(FILE *out, struct reel_bytes b, bool model) {
    for (size_t i = 0; i < b.size; i++) {
        uint8_t c = b.data[i];
        if (c == '\n') {
            fputs("\\n", out);
        } else if (c >= 0x20 && c != 0x7f && (model || (c < 0x7f && c != '\\'))) {
            fputc(c, out);
        } else {
            fprintf(out, "\\x%02x", c);
        }
    }
}
static void put_text(FILE *out, const char *before, const char *text) {
    fputs(before, out);
    put_bytes(out, bytes_text(text), true);
    fputc('\n', out);
}
static void put_time(FILE *out, const char *before, int64_t ns) {
    uint64_t magnitude = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
    fprintf(out, "%s%s%" PRIu64 ".%09" PRIu64, before, ns < 0 ? "-" : "", magnitude / 1000000000,
            magnitude % 1000000000);
}

static EVP_MD_CTX *hash_new(void) {
    EVP_MD_CTX *hash = EVP_MD_CTX_new();
    assert_true(hash && EVP_DigestInit_ex(hash, EVP_sha256(), NULL) == 1);
    return hash;
}
static void hash_add(EVP_MD_CTX *hash, struct reel_bytes b) {
    assert_int_equal(EVP_DigestUpdate(hash, b.data, b.size), 1);
}
/* Frees the hash; the text is good until the next call. */
static const char *hash_text(EVP_MD_CTX *hash) {
    static char text[HASH_TEXT];
    uint8_t digest[32];
    assert_int_equal(EVP_DigestFinal_ex(hash, digest, NULL), 1);
    EVP_MD_CTX_free(hash);
    for (size_t i = 0; i < sizeof digest; i++) {
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    }
    return text;
}
static const char *hash_of(struct reel_bytes b) {
    EVP_MD_CTX *hash = hash_new();
    hash_add(hash, b);
    return hash_text(hash);
}

/* --- one recording --- */

struct dump {
    FILE *out;
    struct reel_recording *recording;
    const struct reel_index *index;
    const struct reel_index_info *info;
};

static void dump_head(const struct dump *d) {
    const struct reel_index_info *i = d->info;
    fprintf(d->out, "format: %s\n", i->format->name);
    put_text(d->out, "container: ", i->container);
    fprintf(d->out, "clock: %s", i->clock == REEL_CLOCK_WALL ? "wall" : "relative");
    put_text(d->out, i->clock_note[0] ? ", " : "", i->clock_note);
    fprintf(d->out, "messages: %" PRIu64 ", %" PRIu64 " bytes", i->messages, i->payload_bytes);
    put_time(d->out, ", from ", i->start_ns);
    put_time(d->out, " to ", i->end_ns);
    fprintf(d->out, "\ndamaged: %s, %" PRIu64 " bytes lost\n", i->damaged ? "yes" : "no", i->lost_bytes);
}

static int by_name(const void *a, const void *b) {
    const struct reel_channel *x = *(const struct reel_channel *const *)a, *y = *(const struct reel_channel *const *)b;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->id > y->id) - (x->id < y->id);
}

/* Frees `payloads`. */
static void dump_channel(const struct dump *d, const struct reel_channel *c, EVP_MD_CTX *payloads) {
    const struct reel_channel_stats *s = reel_index_stats(d->index, c->id);
    FILE *out = d->out;
    fprintf(out, "\nchannel %" PRIu32 "\n", c->id);
    put_text(out, "  name: ", c->name);
    for (uint32_t i = 0; i < c->n_topics; i++) {
        put_text(out, "  topic: ", c->topics[i]);
    }
    put_text(out, "  type: ", c->type);
    put_text(out, "  encoding: ", c->encoding);
    for (uint32_t i = 0; i < c->n_schemas; i++) {
        const struct reel_schema *schema = &c->schemas[i];
        put_text(out, "  schema: ", schema->name);
        put_text(out, "    encoding: ", schema->encoding);
        put_text(out, "    hash: ", schema->hash);
        fprintf(out, "    definition: %zu bytes, sha256 %s\n", schema->data.size, hash_of(schema->data));
    }
    for (size_t i = 0; i < c->metadata.count; i++) {
        put_text(out, "  metadata: ", c->metadata.items[i].key);
        put_text(out, "    = ", c->metadata.items[i].value);
    }
    fprintf(out, "  latched: %s\n  count: %" PRIu64 ", %" PRIu64 " bytes", c->latched ? "yes" : "no", s->count,
            s->bytes);
    put_time(out, "\n  first: ", s->first_ns);
    put_time(out, "\n  last: ", s->last_ns);
    fprintf(out, "\n  payloads: sha256 %s\n", hash_text(payloads));
}

/* Reads every message once, in time order; the first ones are shown. */
static void dump_messages(const struct dump *d, EVP_MD_CTX **hashes) {
    struct reel_error err = {0};
    struct reel_recording *recording = d->recording;
    AUTO(reel_stream_free) struct reel_stream *stream = reel_stream_open(&recording, 1, &selection_all, &err);
    assert_non_null(stream);
    struct reel_message m;
    enum reel_step step;
    uint64_t n = 0;
    fputs("\nin order of time\n", d->out);
    for (; (step = stream_next(stream, &m, &err)) == REEL_STEP_MESSAGE; n++) {
        struct reel_bytes payload;
        const struct reel_channel *c = stream->channels[m.channel];
        if (!reel_stream_payload(stream, &m, &payload, &err)) {
            fail_msg("message %" PRIu64 ": %s", n, err.text);
        }
        assert_int_equal(payload.size, m.size);
        hash_add(hashes[c->id], payload);
        if (n < MESSAGES_SHOWN) {
            put_time(d->out, "  ", m.time_ns);
            fprintf(d->out, " channel %" PRIu32 ", %" PRIu32 " bytes: ", c->id, m.size);
            put_bytes(d->out, bytes_of(payload.data, payload.size < BYTES_SHOWN ? payload.size : BYTES_SHOWN), false);
            fputs(payload.size > BYTES_SHOWN ? " ...\n" : "\n", d->out);
        }
    }
    if (step != REEL_STEP_END) {
        fail_msg("after message %" PRIu64 ": %s", n, err.text);
    }
    assert_int_equal(n, d->info->messages);
    if (n > MESSAGES_SHOWN) {
        fprintf(d->out, "  and %" PRIu64 " more\n", n - MESSAGES_SHOWN);
    }
}

static void dump_channels(const struct dump *d) {
    uint32_t n = d->info->n_channels;
    AUTO_MEM EVP_MD_CTX **hashes = calloc(n + 1, sizeof(EVP_MD_CTX *));
    AUTO_MEM const struct reel_channel **sorted = calloc(n + 1, sizeof(const struct reel_channel *));
    assert_true(hashes && sorted);
    for (uint32_t i = 0; i < n; i++) {
        sorted[i] = reel_index_channel(d->index, i);
        hashes[i] = hash_new();
    }
    qsort(sorted, n, sizeof(const struct reel_channel *), by_name);
    dump_messages(d, hashes);
    for (uint32_t i = 0; i < n; i++) {
        dump_channel(d, sorted[i], hashes[sorted[i]->id]);
    }
}

static void dump_attachments(const struct dump *d) {
    struct reel_error err = {0};
    size_t count;
    const struct reel_attachment *all = reel_index_attachments(d->index, &count);
    AUTO(reel_reader_free) struct reel_reader *reader = reel_reader_new(d->recording, &err);
    assert_non_null(reader);
    for (size_t i = 0; i < count; i++) {
        const struct reel_attachment *a = &all[i];
        struct reel_bytes b;
        if (!reel_reader_view(reader, a->chunk, a->offset, (size_t)a->size, &b, &err)) {
            fail_msg("attachment %s: %s", a->name, err.text);
        }
        put_text(d->out, "\nattachment\n  name: ", a->name);
        put_text(d->out, "  media type: ", a->media_type);
        put_time(d->out, "  time: ", a->time_ns);
        fprintf(d->out, "\n  %" PRIu64 " bytes, sha256 %s\n", a->size, hash_of(b));
    }
}

static void dump_metadata(const struct dump *d) {
    const struct reel_pairs *pairs = reel_index_metadata(d->index);
    fputs(pairs->count > 0 ? "\nmetadata\n" : "", d->out);
    for (size_t i = 0; i < pairs->count; i++) {
        put_text(d->out, "  ", pairs->items[i].key);
        put_text(d->out, "    = ", pairs->items[i].value);
    }
}

static void dump_findings(const struct dump *d) {
    size_t count;
    const struct reel_finding *all = reel_index_findings(d->index, &count);
    fprintf(d->out, "\nfindings: %" PRIu64 "\n", d->info->n_findings_total);
    for (size_t i = 0; i < count; i++) {
        const struct reel_finding *f = &all[i];
        fprintf(d->out, "  %s, part %" PRIu32 " at %" PRIu64 ", length %" PRIu64, severities[f->severity], f->part,
                f->offset, f->length);
        put_text(d->out, ": ", f->text);
    }
}

/* What is printed of a refused file: that no format recognises it, then why the folder's own format refuses it. */
static bool scan_or_dump(FILE *out, struct reel_source *source, const char *format) {
    struct reel_error err = {0};
    const struct reel_format *probed = reel_format_probe(source, &err);
    if (!probed) {
        assert_int_equal(err.code, REEL_NOT_MINE); /* its text lists the formats, and grows with them */
        fputs("probed: no known format\n", out);
    }
    if (reel_scan_run(&source, 1, probed ? probed : reel_format_named(format), PACK, NULL, &err)) {
        return true;
    }
    fprintf(out, "refused by %s: %s, ", probed ? probed->name : format, codes[err.code]);
    put_text(out, "", err.text);
    return false;
}

static void dump_file(FILE *out, const char *path, const char *format) {
    struct reel_error err = {0};
    struct reel_source *source = reel_source_open(path, NULL, &err);
    if (!source) {
        fail_msg("%s: %s", path, err.text);
    }
    if (!scan_or_dump(out, source, format)) {
        reel_source_free(source);
        return;
    }
    struct reel_index *index = reel_index_open(PACK, &err);
    assert_non_null(index);
    AUTO(reel_recording_free)
    struct reel_recording *recording =
        reel_recording_from_index(index, &source, 1, &(struct reel_recording_options){0}, &err);
    assert_non_null(recording);
    const struct dump d = {.out = out, .recording = recording, .index = index, .info = reel_index_info(index)};
    dump_head(&d);
    dump_findings(&d);
    dump_metadata(&d);
    dump_attachments(&d);
    dump_channels(&d);
}

/* --- comparing --- */

static char *read_text(const char *path) {
    AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) {
        return NULL;
    }
    char *text = calloc(1, (size_t)st.st_size + 1);
    assert_true(text && read(fd, text, (size_t)st.st_size) == st.st_size);
    return text;
}

static size_t line_size(const char *text) {
    size_t n = strcspn(text, "\n");
    return n + (text[n] == '\n');
}
static bool same_line(const char *a, const char *b) {
    size_t n = line_size(a);
    return n > 0 && n == line_size(b) && memcmp(a, b, n) == 0;
}
static bool stands_below(const char *line, const char *text) {
    while (*text && !same_line(line, text)) {
        text += line_size(text);
    }
    return *text != '\0';
}
static void print_line(const char *mark, const char *line) {
    print_message("%s%.*s\n", mark, (int)strcspn(line, "\n"), line);
}

/* Equal lines by two spaces, lines that are missing by '-', lines that are too many by '+'. */
static void print_difference(const char *expected, const char *got) {
    while (*expected || *got) {
        if (same_line(expected, got)) {
            print_line("  ", expected);
            expected += line_size(expected);
            got += line_size(got);
        } else if (*expected && (!*got || !stands_below(expected, got))) {
            print_line("- ", expected);
            expected += line_size(expected);
        } else {
            print_line("+ ", got);
            got += line_size(got);
        }
    }
}

/* --- the cases --- */

struct golden_case {
    char format[64], name[192]; /* name: format/case */
    char input[512], expected[512];
};
static struct golden_case cases[CASES_MAX];
static struct CMUnitTest tests[CASES_MAX];
static size_t n_cases;

static void golden(void **state) {
    const struct golden_case *c = *state;
    AUTO_MEM char *got = NULL;
    size_t size;
    FILE *out = open_memstream(&got, &size);
    assert_non_null(out);
    dump_file(out, c->input, c->format);
    fclose(out);
    if (getenv("REEL_GOLDEN_WRITE")) {
        FILE *file = fopen(c->expected, "we");
        assert_true(file && fwrite(got, 1, size, file) == size && fclose(file) == 0);
        return;
    }
    AUTO_MEM char *expected = read_text(c->expected);
    if (!expected) {
        fail_msg("%s: no expected.txt", c->name);
    } else if (strcmp(expected, got) != 0) {
        print_message("%s: expected lines that are missing by -, others by +\n", c->name);
        print_difference(expected, got);
        fail_msg("%s differs from its expected.txt", c->name);
    }
}

/* The entries of a folder in order of name; negative: no folder. */
static int list_folder(const char *path, struct dirent ***list) {
    return scandir(path, list, NULL, alphasort);
}

static void case_add(const char *folder, const char *format, const char *name) {
    struct golden_case *c = &cases[n_cases];
    char path[400];
    struct dirent **files;
    assert_true(n_cases < CASES_MAX);
    assert_in_range(snprintf(path, sizeof path, "%s/%s", folder, name), 1, sizeof path - 1);
    snprintf(c->format, sizeof c->format, "%s", format);
    snprintf(c->name, sizeof c->name, "%.60s/%.120s", format, name);
    snprintf(c->expected, sizeof c->expected, "%s/expected.txt", path);
    int n = list_folder(path, &files);
    for (int i = 0; i < n; i++) {
        if (strncmp(files[i]->d_name, "input.", 6) == 0) {
            snprintf(c->input, sizeof c->input, "%s/%.100s", path, files[i]->d_name);
        }
        free(files[i]);
    }
    if (n >= 0) {
        free(files);
        tests[n_cases++] = (struct CMUnitTest){.name = c->name, .test_func = golden, .initial_state = c};
    }
}

/* Every folder is named as a format; one that is not would be run by nothing. */
int main(void) {
    struct dirent **folders;
    int n_folders = list_folder(REEL_TESTS "/golden", &folders);
    bool all_known = true;
    for (int f = 0; f < n_folders; f++) {
        char folder[400];
        struct dirent **names;
        const char *format = folders[f]->d_name;
        snprintf(folder, sizeof folder, "%s/golden/%.100s", REEL_TESTS, format);
        int n = format[0] == '.' || strcmp(format, "__pycache__") == 0 ? -1 : list_folder(folder, &names);
        if (n >= 0 && !reel_format_named(format)) {
            fprintf(stderr, "golden/%s: no format has this name\n", format);
            all_known = false;
        }
        for (int i = 0; i < n; i++) {
            if (names[i]->d_name[0] != '.') {
                case_add(folder, format, names[i]->d_name);
            }
            free(names[i]);
        }
        if (n >= 0) {
            free(names);
        }
        free(folders[f]);
    }
    if (n_folders >= 0) {
        free(folders);
    }
    return n_cases > 0 && all_known ? _cmocka_run_group_tests("golden", tests, n_cases, NULL, NULL) : 1;
}
