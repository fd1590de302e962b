// Reads every message of a 2.0 bag once with librosbag_storage, in time order, payloads copied out, and prints how fast, as JSON.
#include <rosbag/bag.h>
#include <rosbag/view.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <vector>

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void read_all(const char *path) {
    auto start = std::chrono::steady_clock::now();
    rosbag::Bag bag(path, rosbag::bagmode::Read);
    rosbag::View view(bag);
    double opening = seconds_since(start);
    uint64_t messages = 0, bytes = 0;
    std::vector<uint8_t> payload;
    start = std::chrono::steady_clock::now();
    for (const rosbag::MessageInstance &message : view) {
        payload.resize(message.size());
        ros::serialization::OStream out(payload.data(), static_cast<uint32_t>(payload.size()));
        message.write(out);
        messages++;
        bytes += payload.size();
    }
    double loop = seconds_since(start);
    printf("{\"opening\": %.6f, \"seconds\": %.6f, \"messages\": %lu, \"bytes\": %lu}\n", opening, loop, messages, bytes);
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: bag_loop FILE.bag\n");
        return 2;
    }
    try {
        read_all(argv[1]);
    } catch (const std::exception &e) {
        fprintf(stderr, "bag_loop: %s\n", e.what());
        return 1;
    }
    return 0;
}
