/* Prints the messages of a recording as JSON, or converts it: example IN, example IN OUT.EXT.
 * Build: cc example.c $(pkg-config --cflags --libs libreel) */
#include <stdio.h>
#include <stdlib.h>

#include <reel/reel.h>

static int fail(const char *what, const struct reel_error *err) {
    fprintf(stderr, "example: %s: %s\n", what, err->text);
    return EXIT_FAILURE;
}

static bool print_messages(struct reel_recording *recording, struct reel_error *err) {
    struct reel_stream *stream = reel_stream_open(&recording, 1, NULL, err); /* NULL: all messages */
    struct reel_json *json = stream ? reel_json_new(stream, err) : NULL;
    const struct reel_message *message;
    enum reel_step step = json ? REEL_STEP_MESSAGE : REEL_STEP_ERROR;
    while (step == REEL_STEP_MESSAGE && (step = reel_stream_next(stream, &message, err)) == REEL_STEP_MESSAGE) {
        const char *text;
        if (!reel_message_json(json, message, &text, NULL, err)) {
            step = REEL_STEP_ERROR;
        } else if (puts(text) == EOF) {
            reel_fail_errno(err, "standard output");
            step = REEL_STEP_ERROR;
        }
    }
    reel_json_free(json);
    reel_stream_free(stream);
    return step == REEL_STEP_END && (fflush(stdout) == 0 || reel_fail_errno(err, "standard output"));
}

static bool show_progress(void *context, uint64_t done, uint64_t total) {
    fprintf(stderr, "\r%s: %3.0f %%", (const char *)context, total ? 100.0 * (double)done / (double)total : 100.0);
    return true; /* false cancels */
}

int main(int argc, char **argv) {
    struct reel_error err = {0};
    if (argc != 2 && argc != 3) {
        fprintf(stderr, "usage: example IN [OUT.EXT]\n");
        return EXIT_FAILURE;
    }
    /* The first call scans the file; give a folder instead of NULL to keep the index pack for the next time. */
    struct reel_recording *recording = reel_recording_open(argv[1], NULL, &err);
    if (!recording) {
        return fail(argv[1], &err);
    }
    struct reel_progress progress = {.report = show_progress, .context = argv[argc - 1]};
    bool good =
        argc == 2 ? print_messages(recording, &err) : reel_convert(recording, NULL, argv[2], NULL, &progress, &err);
    if (argc == 3) {
        fputc('\n', stderr);
    }
    reel_recording_free(recording);
    return good ? EXIT_SUCCESS : fail(argv[argc - 1], &err);
}
