/** Requests: routes and what a guard would have refused, with the server as it was. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, createServer, get } from 'node:http';
import { createServer as createSecureServer, get as getSecurely } from 'node:https';
import { connect } from 'node:net';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { guard } from '@millrace/guard';
import { observe } from 'millrace/observe';
import { certificate } from '../../ws/certificate.js';
import { busy } from './busy.js';
import { turnOver } from './sockets.js';

async function serve(t, handler) {
  const server = createServer({ keepAliveTimeout: 0 }, handler).listen(0, '127.0.0.1');
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

test('requests that wait behind others are reported, and answered as ever', async (t) => {
  const observation = observe({ maxWait: 100 });
  t.after(() => observation.stop());
  const server = await serve(t, (req, res) => {
    if (req.url === '/slow') busy(30);
    res.end(req.url);
  });
  await ask(server, '/first');
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
  // Of CPU time of this process: other threads of it may have taken a part.
  assert.ok(busyMs >= 300 && meanMs >= 15 && maxMs >= 15 && maxMs <= busyMs);
  assert.ok(wouldShed > 0 && wouldShed < 20, `${wouldShed}`);
});

test('stop() gives the server back', async (t) => {
  const observation = observe();
  const server = await serve(t, (_req, res) => res.end('a'));
  const before = [Object.getOwnPropertyDescriptors(server), server.eventNames()];
  await ask(server, '/');
  assert.ok(Object.hasOwn(server, 'emit'));
  assert.deepEqual(server.eventNames(), before[1]);
  observation.stop();
  assert.equal(Object.hasOwn(server, 'emit'), false);
  assert.deepEqual(server.eventNames(), before[1]);
  assert.deepEqual(Object.keys(Object.getOwnPropertyDescriptors(server)), Object.keys(before[0]));
  assert.deepEqual(await ask(server, '/'), [200, 'a']);
  assert.equal(observation.report().requests.requests, 1);
});

test('an emit of its own is called for all events, and is given back', async (t) => {
  const observation = observe();
  const server = await serve(t, (_req, res) => res.end('a'));
  const events = [];
  const own = (...args) => {
    events.push(args);
    return Object.getPrototypeOf(server).emit.apply(server, args);
  };
  server.emit = own;
  await ask(server, '/');
  const observed = server.emit;
  assert.notEqual(observed, own);
  assert.equal(server.emit('something', 1, 2, 3, 4, 5), false);
  assert.deepEqual(events.at(-1), ['something', 1, 2, 3, 4, 5]);
  assert.ok(events.some(([event]) => event === 'request'));
  observation.stop();
  assert.equal(server.emit, own);
  // Whoever has kept ours still reaches the listeners.
  observed.call(server, 'anything');
  assert.deepEqual(events.at(-1), ['anything']);
});

test('a guard that the application puts in front later guards', async (t) => {
  const observation = observe();
  const server = await serve(t, (_req, res) => res.end('a'));
  await ask(server, '/');
  const own = guard(server, { observe: true });
  assert.deepEqual(await ask(server, '/b'), [200, 'a']);
  assert.equal(own.stats().classes.normal.admitted, 1);
  assert.equal(observation.report().requests.requests, 2);
  observation.stop();
  assert.deepEqual(await ask(server, '/c'), [200, 'a']);
  assert.equal(own.stats().classes.normal.admitted, 2);
  own.close();
  assert.deepEqual(await ask(server, '/d'), [200, 'a']);
  assert.equal(observation.report().requests.requests, 2);
});

test('a handler that throws, or hands its request on, is counted once', async (t) => {
  const observation = observe();
  t.after(() => observation.stop());
  const inner = createServer((_req, res) => res.end('inner'));
  const server = await serve(t, (req, res) => {
    if (req.headers.again === undefined) {
      req.headers.again = '1';
      server.emit('request', req, res);
      return;
    }
    inner.emit('request', req, res);
    throw new Error('thrown');
  });
  const thrown = [];
  const { emit } = server;
  server.emit = (...args) => {
    try {
      return emit.apply(server, args);
    } catch (error) {
      thrown.push(error.message);
      return true;
    }
  };
  assert.deepEqual(await ask(server, '/'), [200, 'inner']);
  // Now the observation is in front.
  assert.deepEqual(await ask(server, '/'), [200, 'inner']);
  assert.deepEqual(thrown, ['thrown', 'thrown']);
  const { requests, routes } = observation.report().requests;
  assert.equal(requests, 2);
  assert.deepEqual([routes[0].route, routes[0].requests], ['GET /', 2]);
});

test('a server of node:https is seen as one, and its writes are not', async (t) => {
  const observation = observe();
  t.after(() => observation.stop());
  const server = createSecureServer(certificate(), (_req, res) => res.end('a'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address();
  const options = { host: '127.0.0.1', port, path: '/a', agent: false, rejectUnauthorized: false };
  for (let i = 0; i < 2; i++) {
    const [res] = await once(getSecurely(options), 'response');
    await once(res.resume(), 'end');
  }
  const { requests, writes } = observation.report();
  assert.deepEqual(requests.servers, [{ port, secure: true }]);
  assert.deepEqual([requests.requests, requests.url], [2, '/a']);
  assert.deepEqual(
    requests.routes.map((each) => [each.route, each.requests]),
    [['GET /a', 2]],
  );
  assert.equal(writes.writes, 0);
});

test('a route that is asked for often is counted in full, and timed in full once it blocked', async (t) => {
  // The first second is its start-up.
  while (performance.now() < 1050) await turnOver();
  const observation = observe({ blockedMs: 20 });
  t.after(() => observation.stop());
  const server = await serve(t, (req, res) => {
    if (req.headers.busy !== undefined) busy(30);
    res.end('a');
  });
  const blockings = () => observation.report().loop.blockedTurns;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const ask = async (headers) => {
    const { port } = server.address();
    const [res] = await once(get({ host: '127.0.0.1', port, agent, headers }), 'response');
    await once(res.resume(), 'end');
  };
  for (let i = 0; i < 150; i++) await ask({});
  const before = blockings();
  let asked = 150;
  // Other threads of the process may have had the CPU time of the first.
  do {
    await ask({ busy: '1' });
    asked++;
    await turnOver();
  } while (blockings() === before);
  for (let i = 0; i < 7; i++) await ask({ busy: '1' });
  const [route] = observation.report().requests.routes;
  assert.equal(route.requests, asked + 7);
  assert.ok(route.maxMs >= 15, `${route.maxMs}`);
  assert.ok(route.busyMs >= 7 * 15, `${route.busyMs}`);
});

test('servers of Millrace are left alone', async (t) => {
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
