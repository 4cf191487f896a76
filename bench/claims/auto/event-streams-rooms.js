/** The server of apps/event-streams.js with `Rooms` in place of its set of readers. */
import { createServer } from 'node:http';
import { Rooms } from 'millrace/ws';

const rooms = new Rooms();

const server = createServer((request, response) => {
  if (request.url === '/events') {
    response.setHeader('cache-control', 'no-store');
    rooms.join(response, 'readers');
    return;
  }
  if (request.method !== 'POST') {
    response.end('ok\n');
    return;
  }
  let text = '';
  request.setEncoding('utf8');
  request.on('data', (part) => {
    text += part;
  });
  request.on('end', () => {
    rooms.publish('readers', text);
    response.writeHead(204).end();
  });
});

server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
