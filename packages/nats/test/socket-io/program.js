/** A server of a fleet in a process of its own. It answers what others ask of it, and does what the test says. */
import { createServer } from 'node:http';
import { natsAdapter } from '@millrace/nats/socket-io';
import { Server } from 'socket.io';
import { patiently } from '../patience.js';
import { answer, say } from '../talk.js';

const { BROKER, HEARTBEAT, OPTIONS = '{}' } = process.env;
const server = createServer();
const io = new Server(server);
const adapter = natsAdapter({
  broker: JSON.parse(BROKER),
  heartbeat: Number(HEARTBEAT),
  ...JSON.parse(OPTIONS),
});
io.adapter(adapter);
io.on('connection', async (socket) => {
  await socket.join('all');
  say({ connected: socket.id });
});
// Never answered.
io.on('silence', () => say({ asked: true }));
io.on('who', (callback) => callback('program'));
answer({
  emit: ({ message }) => {
    io.to('all').emit(...message);
  },
  /** Says after each number how far the broker has stored them. */
  publish: async ({ from, to }) => {
    for (let n = from; n < to; n++) {
      io.to('all').emit('m', n);
      if (n % 10 === 9) {
        await adapter.acknowledged();
        say({ stored: n });
      }
    }
  },
  count: () => io.of('/').adapter.serverCount(),
});
await patiently(() => adapter.ready());
server.listen(0, '127.0.0.1', () => say({ port: server.address().port }));
