/**
 * A server of socket.io: `node server.js SUBJECT PLACE`. Told `{ broadcasts, perTurn, window }` it sends so many to the room that
 * each client is in, some in each turn, and no more than `window` ahead of `{ taken }`. `{ port: true }` asks where it listens.
 */
import { createServer } from 'node:http';
import { Server } from 'socket.io';
import { subjects } from './subjects.js';

const [subject, place] = process.argv.slice(2);
const http = createServer();
const io = new Server(http, { serveClient: false });
io.adapter(subjects[subject](place));
io.on('connection', (socket) => socket.join('room'));
const text = 'x'.repeat(100);
let left = 0;
let allowed = 0;

process.on('message', ({ port, broadcasts, perTurn, window, taken }) => {
  if (port) process.send({ port: http.address().port });
  if (taken) allowed += taken;
  if (!broadcasts) return;
  left = broadcasts;
  allowed = window;
  turn();

  function turn() {
    for (let n = 0; n < perTurn && left > 0 && allowed > 0; n++, left--, allowed--) {
      io.to('room').emit('message', left, text);
    }
    if (left > 0) setImmediate(turn);
  }
});
process.on('disconnect', () => process.exit());
http.listen(0, '127.0.0.1', () => process.send({ ready: true }));
