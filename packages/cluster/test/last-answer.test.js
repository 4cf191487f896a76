import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { test } from 'node:test';
import { closeAfterAnswer } from '../dist/servers.js';
import { get } from './program.js';

const cookies = ['a=1', 'b=2'];

for (const [how, write] of Object.entries({
  nothing: () => {},
  'a header that is set': (res) => res.setHeader('Connection', 'keep-alive'),
  'an object': (res) => res.writeHead(200, { connection: 'keep-alive', 'Set-Cookie': cookies }),
  'a message and an object': (res) => res.writeHead(200, 'Fine', { Connection: 'keep-alive' }),
  'an array': (res) => res.writeHead(200, ['Connection', 'keep-alive', 'Set-Cookie', cookies]),
  pairs: (res) =>
    res.writeHead(200, [...cookies.map((it) => ['Set-Cookie', it]), ['Connection', 'keep-alive']]),
})) {
  test(`the last answer is the last one, whatever the application says: ${how}`, async (t) => {
    const server = http.createServer((_, res) => {
      write(res);
      res.end();
    });
    closeAfterAnswer(server);
    server.listen(0, '127.0.0.1');
    t.after(() => server.close());
    await once(server, 'listening');
    const { status, headers } = await get(server.address().port, '/', {
      headers: { connection: 'keep-alive' },
    });
    assert.deepEqual([status, headers.connection], [200, 'close']);
    const sent = write.toString().includes('cookies');
    assert.deepEqual(headers['set-cookie'], sent ? cookies : undefined);
  });
}
