/** Server that reads a page per request with the callback `readFile`, as small file servers do. */
import { readFile } from 'node:fs';
import { createServer } from 'node:http';

const folder = new URL('../pages/', import.meta.url).pathname;

const server = createServer(({ url }, response) => {
  if (url === '/health') {
    response.end('ok\n');
    return;
  }
  readFile(`${folder}article-${Number(url.slice('/pages/'.length))}.html`, (error, page) => {
    if (error !== null) {
      response.statusCode = 404;
      response.end();
      return;
    }
    response.setHeader('content-type', 'text/html');
    response.setHeader('content-length', page.length);
    response.end(page);
  });
});

server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
