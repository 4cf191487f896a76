/** Requests: routes and what a guard would have refused, with the server as it was. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { observe } from 'millrace/observe';
import { turnOver } from './sockets.js';

const busy = (ms) => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};

async function serve(t, handler) {
  const server = createServer(handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return server;
}

const connections = (server) => promisify(server.getConnections).call(server);

/** Status and body. */
async function ask(server, path) {
  const [res] = await once(
    get({ host: '127.0.0.1', port: server.address().port, path, agent: false }),
    'response',
  );
  let body = '';
  for await (const chunk of res) body += chunk;
  return [res.statusCode, body];
}

test('those that wait behind others are told, and answered as ever', async (t) => {
  const observation = observe({ maxWait: 100 });
  t.after(() => observation.stop());
  const server = await serve(t, (req, res) => {
    if (req.url === '/slow') busy(30);
    res.end(req.url);
  });
  // The guard is loaded with the first connection.
  while (observation.report().requests.requests === 0) await ask(server, '/first');
  // All of them are there in one turn of the loop.
  const sockets = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const socket = connect(server.address().port, '127.0.0.1');
      t.after(() => socket.destroy());
      await once(socket, 'connect');
      return socket;
    }),
  );
  // At the server's end as well.
  while ((await connections(server)) < sockets.length) await turnOver();
  const answers = sockets.map(async (socket) => {
    socket.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
    const [answer] = await once(socket, 'data');
    return String(answer);
  });
  for (const answer of await Promise.all(answers)) {
    assert.match(answer, /^HTTP\/1.1 200 OK\r\n.*\/slow$/s);
  }
  const { servers, wouldShed, routes, url } = observation.report().requests;
  assert.deepEqual(servers, [{ port: server.address().port, secure: false }]);
  assert.equal(url, '/first');
  const { route, requests, busyMs, meanMs, maxMs } = routes[0];
  assert.deepEqual([route, requests], ['GET /slow', 20]);
  assert.ok(busyMs >= 600 && meanMs >= 30 && maxMs >= 30 && maxMs <= busyMs);
  assert.ok(wouldShed > 0 && wouldShed < 20, `${wouldShed}`);
});

test('stop() gives the server back', async (t) => {
  const observation = observe();
  const server = await serve(t, (_req, res) => res.end('a'));
  const before = [Object.getOwnPropertyDescriptors(server), server.eventNames()];
  while (observation.report().requests.requests === 0) await ask(server, '/');
  assert.ok(Object.hasOwn(server, 'emit'));
  observation.stop();
  assert.equal(Object.hasOwn(server, 'emit'), false);
  assert.deepEqual(server.eventNames(), before[1]);
  assert.deepEqual(Object.keys(Object.getOwnPropertyDescriptors(server)), Object.keys(before[0]));
  const { requests } = observation.report().requests;
  assert.deepEqual(await ask(server, '/'), [200, 'a']);
  assert.equal(observation.report().requests.requests, requests);
});

test('what belongs to Millrace is left alone', async (t) => {
  const observation = observe();
  t.after(() => observation.stop());
  const server = createServer((_req, res) => res.end('a'));
  server[Symbol.for('millrace.own')] = true;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  await ask(server, '/');
  assert.deepEqual(observation.report().requests.servers, []);
});
