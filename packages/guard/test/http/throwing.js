/**
 * A server of which two handlers of four throw, without a guard (`plain`) or with one (`guarded`). Prints what was uncaught, handled, and
 * answered.
 */
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { guard } from '@millrace/guard';
import { block, idle, patient } from './wire.js';

const uncaught = [];
const handled = [];
process.on('uncaughtException', (error) => uncaught.push(error.message));

const server = http.createServer((req, res) => {
  const name = req.url.slice(1);
  handled.push(name);
  block();
  if (name === 'first' || name === 'third') {
    // So that its client does not wait for ever.
    res.socket.end();
    throw new Error(name);
  }
  res.writeHead(200, { Connection: 'close' }).end();
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const g = process.argv[2] === 'guarded' ? guard(server, patient) : null;

const names = ['first', 'second', 'third', 'fourth'];
const sockets = [];
for (const _ of names) {
  const accepted = once(server, 'connection');
  const socket = net.connect(server.address().port, '127.0.0.1');
  await Promise.all([accepted, once(socket, 'connect')]);
  sockets.push(socket);
}
await idle();
const statuses = await Promise.all(
  sockets.map(async (socket, i) => {
    socket.write(`GET /${names[i]} HTTP/1.1\r\nHost: test\r\n\r\n`);
    let text = '';
    for await (const chunk of socket.setEncoding('latin1')) text += chunk;
    return text.split('\r\n')[0];
  }),
);
server.close();
await once(server, 'close');
const { queued, inFlight, classes } = g?.stats() ?? {};
const stats = g && { queued, inFlight, admitted: classes.normal.admitted };
console.log(JSON.stringify({ uncaught, handled, statuses, stats }));
