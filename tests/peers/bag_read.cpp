// Opens a ROS bag with librosbag_storage, ROS's own reader, and prints what it found there as JSON: per topic the count, the bytes, first
// and last time and the SHA-256 of all payloads one after another in time order.
#include <openssl/evp.h>
#include <rosbag/bag.h>
#include <rosbag/view.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {

struct Topic {
    std::string type, md5, definition;
    uint64_t count = 0, bytes = 0, first_ns = 0, last_ns = 0;
    std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> hash{EVP_MD_CTX_new(), EVP_MD_CTX_free};
    Topic() {
        EVP_DigestInit_ex(hash.get(), EVP_sha256(), nullptr);
    }
};

std::string hex_digest(EVP_MD_CTX *hash) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    EVP_DigestFinal_ex(hash, digest, &size);
    std::string text;
    for (unsigned i = 0; i < size; i++) {
        char two[3];
        snprintf(two, sizeof two, "%02x", digest[i]);
        text += two;
    }
    return text;
}

std::string json_text(const std::string &text) {
    std::string out = "\"";
    for (unsigned char c : text) {
        char piece[8];
        snprintf(piece, sizeof piece, c < 0x20 || c == '"' || c == '\\' || c >= 0x7f ? "\\u%04x" : "%c", c);
        out += piece;
    }
    return out + "\"";
}

void read_bag(const char *path) {
    rosbag::Bag bag(path, rosbag::bagmode::Read);
    rosbag::View view(bag);
    std::map<std::string, Topic> topics;
    std::vector<uint8_t> payload;
    for (const rosbag::MessageInstance &message : view) {
        Topic &topic = topics[message.getTopic()];
        payload.resize(message.size());
        ros::serialization::OStream out(payload.data(), static_cast<uint32_t>(payload.size()));
        message.write(out);
        EVP_DigestUpdate(topic.hash.get(), payload.data(), payload.size());
        uint64_t time = message.getTime().toNSec();
        if (topic.count++ == 0) {
            topic.first_ns = time;
            topic.type = message.getDataType();
            topic.md5 = message.getMD5Sum();
            topic.definition = message.getMessageDefinition();
        }
        topic.last_ns = time;
        topic.bytes += payload.size();
    }
    printf("{");
    const char *comma = "";
    for (auto &[name, topic] : topics) {
        printf("%s\n%s: {\"type\": %s, \"md5\": %s, \"definition\": %s, \"count\": %lu, \"bytes\": %lu, \"first_ns\": %lu, \"last_ns\": "
               "%lu, \"sha256\": \"%s\"}",
               comma, json_text(name).c_str(), json_text(topic.type).c_str(), json_text(topic.md5).c_str(),
               json_text(topic.definition).c_str(), topic.count, topic.bytes, topic.first_ns, topic.last_ns,
               hex_digest(topic.hash.get()).c_str());
        comma = ",";
    }
    printf("\n}\n");
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: bag_read FILE.bag\n");
        return 2;
    }
    try {
        read_bag(argv[1]);
    } catch (const std::exception &e) {
        fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    return 0;
}
