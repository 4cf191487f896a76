/** A feed: for each request its rows go to all clients, one event for each, volatile ones if the first argument says so. */
import { createServer } from 'node:http';
import { Server } from 'socket.io';

const rows = 10;
let number = 0;

const server = createServer((_request, response) => {
  const to = process.argv[2] === 'volatile' ? io.volatile : io;
  for (let row = 0; row < rows; row++) to.emit('row', `${number++}`.padEnd(100, '.'));
  response.end('ok\n');
});
const io = new Server(server);

server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
