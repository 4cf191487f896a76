import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import sirv from 'sirv';

const serve = sirv(fileURLToPath(new URL('../pages', import.meta.url)));
const server = createServer((request, response) => {
  if (request.url === '/health') response.end('ok\n');
  else serve(request, response);
});

server.listen(0, '127.0.0.1', () =>
  console.log(`listening on http://127.0.0.1:${server.address().port}`),
);
