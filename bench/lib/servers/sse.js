/**
 * Serves event streams of one publisher, for `bench/programs/fanout/streams.js`: `node sse.js rooms|write`. A connection that is upgraded
 * publishes its lines. `rooms`: by Rooms; `write`: each response gets the event by `write()`, of one string for all.
 */
import { createServer } from 'node:http';
import { Rooms } from 'millrace/ws';
import { tell } from './tell.js';

const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store, no-transform' };

function byRooms() {
  const rooms = new Rooms({ maxPending: 1024 ** 3 });
  return {
    open: (response) => rooms.join(response, 'all'),
    publish: (text) => rooms.publish('all', text),
    stats() {
      const { deliveries, sends, backend } = rooms.stats();
      return { deliveries, writes: sends, backend };
    },
  };
}

function byWrite() {
  const responses = new Set();
  let deliveries = 0;
  return {
    open(response) {
      response.writeHead(200, headers).flushHeaders();
      responses.add(response);
      response.on('close', () => responses.delete(response));
    },
    publish(text) {
      const event = `data: ${text}\n\n`;
      for (const response of responses) response.write(event);
      deliveries += responses.size;
    },
    stats: () => ({ deliveries, writes: deliveries }),
  };
}

const { open, publish, stats } = process.argv[2] === 'rooms' ? byRooms() : byWrite();

const server = createServer((_request, response) => open(response));
server.on('upgrade', (_request, socket) => {
  let rest = '';
  socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: lines\r\n\r\n');
  socket.on('data', (bytes) => {
    const lines = (rest + bytes.toString('latin1')).split('\n');
    rest = lines.pop();
    for (const line of lines) publish(line);
  });
});
server.listen(0, '127.0.0.1', () => tell(server.address().port, stats));
