// Follows a recording with Foxglove's own client of the protocol: foxglove_follow.mjs ADDRESS TOPIC COUNT. Prints the server's name and capabilities, the channel and
// the first COUNT messages as JSON.
import protocol from '@foxglove/ws-protocol'; // CommonJS
import WebSocket from 'ws';

const { FoxgloveClient } = protocol;

const [address, topic, count] = process.argv.slice(2);
const client = new FoxgloveClient({ ws: new WebSocket(address, [FoxgloveClient.SUPPORTED_SUBPROTOCOL]) });
const seen = { messages: [] };

function fail(why) {
    console.error(why);
    process.exit(1);
}

client.on('error', fail);
client.on('close', (event) => fail(`closed: ${event.code} ${event.reason}`));
client.on('serverInfo', ({ name, capabilities }) => Object.assign(seen, { name, capabilities }));
client.on('advertise', (channels) => {
    const channel = channels.find((c) => c.topic === topic);
    if (channel) {
        seen.channel = channel;
        client.subscribe(channel.id);
        console.log('subscribed');
    }
});
client.on('message', ({ timestamp, data }) => {
    seen.messages.push([timestamp.toString(), Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64')]);
    if (seen.messages.length === Number(count)) {
        console.log(JSON.stringify(seen));
        process.exit(0);
    }
});
