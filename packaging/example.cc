// Lists the topics of a recording, and writes its second half to another file: example IN [OUT.EXT].
// Build: c++ example.cc $(pkg-config --cflags --libs libreel)
#include <reel/reel.h>

#include <cstdio>
#include <memory>
#include <stdexcept>

namespace {

using Recording = std::unique_ptr<reel_recording, decltype(&reel_recording_free)>;

Recording open(const char *path) {
    reel_error err{};
    Recording recording(reel_recording_open(path, nullptr, &err), reel_recording_free);
    if (!recording) {
        throw std::runtime_error(err.text);
    }
    return recording;
}

void list_topics(const reel_recording *recording) {
    const reel_index *index = reel_recording_index(recording);
    const struct reel_index_info *info = reel_index_info(index);
    for (uint32_t i = 0; i < info->n_channels; i++) {
        const reel_channel *channel = reel_index_channel(index, i);
        std::printf("%s %s %llu\n", channel->name, channel->type, static_cast<unsigned long long>(reel_index_stats(index, i)->count));
    }
}

void write_second_half(reel_recording *recording, const char *path) {
    const struct reel_index_info *info = reel_index_info(reel_recording_index(recording));
    reel_selection half = reel_select_all();
    half.start_ns = info->start_ns + (info->end_ns - info->start_ns) / 2;
    reel_convert_options options{};
    options.size = sizeof options;
    options.replace = true;
    reel_error err{};
    if (!reel_convert(recording, &half, path, &options, nullptr, &err)) {
        throw std::runtime_error(err.text);
    }
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 2 && argc != 3) {
        std::fprintf(stderr, "usage: example IN [OUT.EXT]\n");
        return 1;
    }
    try {
        const Recording recording = open(argv[1]);
        list_topics(recording.get());
        if (argc == 3) {
            write_second_half(recording.get(), argv[2]);
        }
    } catch (const std::exception &error) {
        std::fprintf(stderr, "example: %s: %s\n", argv[1], error.what());
        return 1;
    }
    return 0;
}
