/** Server of pages of ten parts, which it asks another server for by its name, on a connection each. */
import { once } from 'node:events';
import { createServer, get } from 'node:http';

const parts = createServer((request, response) => response.end(`part ${request.url}\n`));
parts.listen(0, 'localhost');
await once(parts, 'listening');
const { port } = parts.address();

const part = (number) =>
  new Promise((resolve, reject) => {
    get({ host: 'localhost', port, path: `/${number}`, agent: false }, async (response) => {
      let text = '';
      for await (const chunk of response.setEncoding('utf8')) text += chunk;
      resolve(text);
    }).on('error', reject);
  });

const server = createServer(async (_request, response) => {
  const page = await Promise.all(Array.from({ length: 10 }, (_, i) => part(i)));
  response.setHeader('content-type', 'text/plain').end(page.join(''));
});
server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
