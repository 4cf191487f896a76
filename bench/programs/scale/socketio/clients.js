/**
 * Clients of one server: `node clients.js COUNT PORT`. They speak just enough of engine.io, so that they cost little. Told `{ expect: n }`
 * it answers when each has got n more; `{ taken }` tells meanwhile how far the first is.
 */
import { WebSocket } from 'ws';

const [count, port] = process.argv.slice(2).map(Number);
/** Packets: a ping, a namespace that is open, an event. */
const [PING, OPEN, EVENT] = ['2', '40', '42'];
const step = 100;
let open = 0;
let expected = 0;
let received = 0;

for (let client = 0; client < count; client++) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/socket.io/?EIO=4&transport=websocket`);
  socket.on('open', () => socket.send('40'));
  let own = 0;
  socket.on('message', (data) => {
    const packet = data.toString('latin1', 0, 2);
    if (packet === EVENT) {
      received++;
      own++;
      if (client === 0 && own % step === 0) process.send({ taken: step });
      if (received === expected * count) process.send({ all: true });
    } else if (packet === OPEN) {
      open++;
      if (open === count) process.send({ ready: true });
    } else if (packet[0] === PING) socket.send('3');
  });
}

process.on('message', ({ expect }) => {
  expected += expect;
  if (received === expected * count) process.send({ all: true });
});
process.on('disconnect', () => process.exit());
