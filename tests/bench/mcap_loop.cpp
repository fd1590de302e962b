// Reads every message of an MCAP file once with mcap C++, in time order, and with a second file writes each to it, in
// chunks that are not compressed. Prints the seconds and how many there were. limits.py builds it.
#define MCAP_IMPLEMENTATION
#include <mcap/reader.hpp>
#include <mcap/writer.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <stdexcept>

namespace {

void check(const mcap::Status &status) {
    if (!status.ok()) {
        throw std::runtime_error(status.message);
    }
}

class Copy {
  public:
    explicit Copy(const char *path) {
        mcap::McapWriterOptions options("");
        options.compression = mcap::Compression::None;
        check(writer.open(path, options));
    }
    void put(const mcap::MessageView &view) {
        auto known = channels.find(view.channel->id);
        if (known == channels.end()) {
            mcap::Channel channel(view.channel->topic, view.channel->messageEncoding, 0, view.channel->metadata);
            if (view.schema) {
                mcap::Schema schema(view.schema->name, view.schema->encoding, view.schema->data);
                writer.addSchema(schema);
                channel.schemaId = schema.id;
            }
            writer.addChannel(channel);
            known = channels.emplace(view.channel->id, channel.id).first;
        }
        mcap::Message message = view.message;
        message.channelId = known->second;
        check(writer.write(message));
    }
    void close() { writer.close(); }

  private:
    mcap::McapWriter writer;
    std::map<mcap::ChannelId, mcap::ChannelId> channels; // here: there
};

void read_all(const char *from, const char *to) {
    auto start = std::chrono::steady_clock::now();
    mcap::McapReader reader;
    check(reader.open(from));
    mcap::ReadMessageOptions options;
    options.readOrder = mcap::ReadMessageOptions::ReadOrder::LogTimeOrder;
    std::unique_ptr<Copy> copy(to ? new Copy(to) : nullptr);
    uint64_t messages = 0;
    for (const mcap::MessageView &view : reader.readMessages(check, options)) {
        if (copy) {
            copy->put(view);
        }
        messages++;
    }
    if (copy) {
        copy->close();
    }
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    printf("%.6f %lu\n", seconds, static_cast<unsigned long>(messages));
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 2 && argc != 3) {
        fprintf(stderr, "usage: mcap_loop FILE [COPY]\n");
        return 2;
    }
    try {
        read_all(argv[1], argc == 3 ? argv[2] : nullptr);
    } catch (const std::exception &e) {
        fprintf(stderr, "mcap_loop: %s\n", e.what());
        return 1;
    }
    return 0;
}
