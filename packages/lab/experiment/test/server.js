/**
 * A server for the tests. `/one` answers 1 at once, `/two` in as many bytes 2, `/long` much more; `/hold`
 * waits until `/release` is asked for, `/asked` says how often anything but
 * /health was asked for, `/die` ends it.
 */
import http from 'node:http';

const held = [];
let asked = 0;

const answers = {
  '/health': () => ({ status: 'ok' }),
  '/one': () => ({ value: 1, isFast: 0 }),
  '/one-fast': () => ({ value: 1, isFast: 1 }),
  '/two': () => ({ value: 2, isFast: 1 }),
  '/long': () => ({ value: 1, isFast: 1, text: 'x'.repeat(100) }),
  '/asked': () => ({ value: asked, isFast: 0 }),
  '/asked-fast': () => ({ value: asked, isFast: 1 }),
  '/die': () => process.exit(3),
};

const server = http.createServer((request, response) => {
  const { pathname } = new URL(request.url, 'http://localhost');
  const answer = (status, body) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  if (pathname !== '/health') asked += 1;
  if (pathname === '/hold') held.push(() => answer(200, { value: 1 }));
  else if (pathname === '/release') {
    answer(200, { value: held.length });
    for (const each of held.splice(0)) each();
  } else if (pathname === '/text') response.end('no JSON');
  else if (pathname in answers) answer(200, answers[pathname]());
  else answer(404, { error: 'not here' });
});
// A busy lab may take seconds to ask again.
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
process.on('SIGTERM', () => process.exit(0));
