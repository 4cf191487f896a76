/**
 * The server of one arm: `node server.js CASE SUBJECT` greets each connection, and answers each message with its CPU time, in µs, the
 * connections that it has greeted, and in how many calls of its handler they came.
 */
import { createServer as createHttp } from 'node:http';
import { createServer } from 'node:net';
import { batchConnections } from 'millrace/net';
import { WebSocketServer } from 'ws';

const [name, subject] = process.argv.slice(2);
const options = { batched: {}, 'held 5': { policy: 'fixed', maxDelay: 5 } }[subject];
let greeted = 0;
let calls = 0;

function greet(socket) {
  greeted++;
  // Clients leave by a reset.
  socket.on('error', () => {});
  if (name === 'net 500') socket.end('h');
  else socket.send('h');
}

function take(connections) {
  calls++;
  for (const { socket } of connections) greet(socket);
}

const listening = name === 'net 500' ? createServer() : createHttp();
const server = name === 'net 500' ? listening : new WebSocketServer({ server: listening });
if (options === undefined) {
  server.on('connection', (socket) => {
    calls++;
    greet(socket);
  });
} else {
  batchConnections(server, take, options);
}

process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send({ cpu: user + system, greeted, calls });
});
process.on('disconnect', () => process.exit());
listening.listen({ port: 0, host: '127.0.0.1', backlog: 1024 }, () =>
  process.send({ port: listening.address().port }),
);
