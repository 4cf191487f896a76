/** Server-sent events as most guides show them: what is posted goes to everybody who reads /events. */
import { createServer } from 'node:http';

const readers = new Set();

const server = createServer((request, response) => {
  if (request.url === '/events') {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.flushHeaders();
    readers.add(response);
    response.on('close', () => readers.delete(response));
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
    const event = `data: ${text}\n\n`;
    for (const reader of readers) reader.write(event);
    response.writeHead(204).end();
  });
});

server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
