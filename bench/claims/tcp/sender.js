/** The other end, a process of its own, which tells its port: one download for each byte that it is sent. */
import { createServer } from 'node:net';
import { BLOCK_BYTES, block, DOWNLOAD_BYTES } from './content.js';

process.on('disconnect', () => process.exit());

const server = createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => {});
  socket.on('data', (asked) => {
    for (let n = 0; n < asked.length; n += 1) send(socket);
  });
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));

/** The bytes are always the same memory, so that sending is as cheap as it can be. */
function send(socket) {
  socket.cork();
  for (let left = DOWNLOAD_BYTES; left > 0; left -= BLOCK_BYTES) socket.write(block);
  socket.uncork();
}
