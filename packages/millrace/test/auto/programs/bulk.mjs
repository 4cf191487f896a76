/** A client that receives in bulk: prints what became of the feature, and whether the bytes are the same. */
import { createHash, randomBytes } from 'node:crypto';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const { features } = process[Symbol.for('millrace.auto')];
const piece = randomBytes(1024 * 1024);
const digest = (update) => {
  const hash = createHash('sha256');
  update(hash);
  return hash.digest('hex');
};

const server = createServer((socket) => {
  socket.on('error', () => {});
  let left = 16;
  const send = () => {
    if (left-- > 0) socket.write(piece, send);
    else socket.end();
  };
  send();
}).listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const expected = digest((hash) => {
  for (let i = 0; i < 16; i++) hash.update(piece);
});
let largest = 0;
let same = true;
// Full reads need a sender that is ahead, which a busy machine may not give at once.
for (
  let round = 0;
  round < 20 && features.reads.state === 'waiting' && features.reads.why === null;
  round++
) {
  const hash = createHash('sha256');
  const client = connect(server.address().port, '127.0.0.1');
  for await (const chunk of client) {
    hash.update(chunk);
    largest = Math.max(largest, chunk.length);
  }
  same &&= hash.digest('hex') === expected;
  await sleep(20);
}
server.close();
console.log(JSON.stringify({ same, state: features.reads.state, why: features.reads.why }));
