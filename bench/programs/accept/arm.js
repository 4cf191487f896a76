/**
 * Arm of one round, the clients: `node arm.js CASE SUBJECT` sends the server's CPU time per connection, the connections of a call of
 * its handler, and percentiles of the time from a client's first move to its greeting. A storm is 500 clients that do not wait for each
 * other: they connect, or, of a server of ws, have connected and send their handshakes. Each gets one greeting.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { commandOf, startChild } from '../../lib/child.js';

const [name, subject] = process.argv.slice(2);
const clients = 500;
const warmups = 4;
const storms = 8;
const handshake = [
  ...['GET / HTTP/1.1', 'Host: x', 'Connection: Upgrade', 'Upgrade: websocket'],
  ...['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', '', ''],
].join('\r\n');
/** Reports whether a client has got everything: a byte, or a response to the handshake and a frame of a byte. */
const isGreeting = (text) =>
  name === 'net 500'
    ? text === 'h'
    : text.startsWith('HTTP/1.1 101 ') && text.endsWith('\r\n\r\n\x81\x01h');

const server = await startChild(
  commandOf(new URL('./server.js', import.meta.url), [name, subject]),
);
const open = () => connect({ port: server.first.port, host: '127.0.0.1', allowHalfOpen: true });

/** Resolves with the ms until the greeting is there. */
function greeted(socket, start) {
  return new Promise((resolve, reject) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (!text.endsWith('h')) return;
      if (!isGreeting(text)) reject(new Error(`a client got ${JSON.stringify(text)}`));
      resolve(performance.now() - start);
      // Without a state that would keep the port.
      socket.resetAndDestroy();
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('a client got no greeting')));
  });
}

async function storm() {
  if (name === 'net 500') {
    return Promise.all(Array.from({ length: clients }, () => greeted(open(), performance.now())));
  }
  const sockets = Array.from({ length: clients }, open);
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  return Promise.all(
    sockets.map((socket) => {
      const done = greeted(socket, performance.now());
      socket.write(handshake);
      return done;
    }),
  );
}

for (let i = 0; i < warmups; i++) await storm();
const before = await server.ask('');
const took = [];
for (let i = 0; i < storms; i++) took.push(...(await storm()));
const after = await server.ask('');
await server.stop();
took.sort((a, b) => a - b);
const count = after.greeted - before.greeted;
if (count !== took.length) throw new Error(`${count} connections were greeted, not ${took.length}`);
process.send({
  cpu_us_per_connection: (after.cpu - before.cpu) / count,
  connections_per_call: count / (after.calls - before.calls),
  p50_ms: took[Math.floor(count / 2)],
  p99_ms: took[Math.floor(count * 0.99)],
});
process.disconnect();
