// Responses by route: what is counted, how long it took, how routes are named, and the bound on their number.
import assert from 'node:assert/strict';
import { channel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { Agent, createServer, get } from 'node:http';
import { createServer as createHttp2, connect as http2 } from 'node:http2';
import { connect } from 'node:net';
import { test } from 'node:test';
import { responses, uncounted } from '@millrace/monitor';
import express from 'express';
import fastify from 'fastify';
import { ResponseCounter } from '../dist/responses.js';

const start = channel('http.server.request.start');
const finish = channel('http.server.response.finish');

/** Publishes as Node.js does. */
function exchange(clock, { ms = 1, method = 'GET', statusCode = 200, url = '/', ...request } = {}) {
  const message = { request: { method, url, ...request }, response: { statusCode } };
  start.publish(message);
  clock.ms += ms;
  finish.publish(message);
}

/** A counter of its own on a clock of its own. */
function counted(t) {
  const clock = { ms: 1000 };
  const counter = new ResponseCounter(() => clock.ms);
  const stop = counter.join();
  t.after(stop);
  const routes = () => Object.fromEntries(counter.routes().map((each) => [each.route, each]));
  return { clock, counter, routes, stop };
}

test('times of a route: count, sum, rate and percentiles of the last 10 to 20 s', (t) => {
  const { clock, routes } = counted(t);
  for (let ms = 1; ms <= 100; ms++) exchange(clock, { ms, url: '/a?b=1' });
  const { 'GET /a': a } = routes();
  assert.equal(a.count, 100);
  assert.equal(a.sumMs, 5050);
  assert.ok(Math.abs(a.p50 - 50) < 2, `p50 is ${a.p50}`);
  assert.ok(Math.abs(a.p99 - 99) < 4, `p99 is ${a.p99}`);
  assert.equal(a.max, 100);
  assert.ok(Math.abs(a.perSecond - 100 / 5.05) < 1e-9);
  assert.deepEqual(a.statuses, { '1xx': 0, '2xx': 100, '3xx': 0, '4xx': 0, '5xx': 0 });

  clock.ms = 15_000;
  exchange(clock, { ms: 500, url: '/a' });
  assert.equal(routes()['GET /a'].max, 500);
  clock.ms = 25_000;
  // The hundred are older than the window, the last one is in it.
  const later = routes()['GET /a'];
  assert.equal(later.count, 101);
  assert.ok(later.p50 > 480, `p50 is ${later.p50}`);
  assert.ok(Math.abs(later.perSecond - 1 / 15) < 1e-9);
  clock.ms = 45_000;
  const { p50, p99, max, perSecond, count } = routes()['GET /a'];
  assert.deepEqual(
    { p50, p99, max, perSecond, count },
    { p50: 0, p99: 0, max: 0, perSecond: 0, count: 101 },
  );
});

test('a route is what the framework says, else the path with its ids folded', (t) => {
  const { clock, routes } = counted(t);
  exchange(clock, { url: '/users/17' });
  exchange(clock, { url: '/users/18?x' });
  exchange(clock, { url: '/users/17', method: 'DELETE' });
  exchange(clock, { url: '/api/5/x', route: { path: '/:what' }, baseUrl: '/api/5' });
  exchange(clock, { url: '/abc', route: { path: /^\/a/ }, baseUrl: '' });
  exchange(clock, { url: '/ab', route: { path: ['/ab', '/cd'] } });
  exchange(clock, { url: '/made-up', statusCode: 404 });
  exchange(clock, { url: '/users/19', statusCode: 404, route: { path: '/users/:user' } });
  exchange(clock, { url: '' });
  exchange(clock, { url: `/${'word'.repeat(15)}/${'word'.repeat(15)}` });
  const names = Object.keys(routes());
  assert.deepEqual(names.slice(0, -1), [
    'GET /users/:id',
    'DELETE /users/:id',
    'GET /api/:id/:what',
    'GET /^\\/a/',
    'GET /ab,/cd',
    '(not found)',
    'GET /users/:user',
    'GET ',
  ]);
  assert.equal(names.at(-1).length, 100);
});

test('routes beyond a hundred are counted as one', (t) => {
  const { clock, routes } = counted(t);
  for (let n = 0; n < 200; n++) exchange(clock, { url: `/word${'abcdefghij'[n % 10]}/x${n}y` });
  exchange(clock, { url: '/worda/x0y' });
  const all = routes();
  assert.equal(Object.keys(all).length, 101);
  assert.equal(all['(others)'].count, 100);
  assert.equal(all['GET /worda/x0y'].count, 2);
});

test('a status beyond 599, and requests that began before, count nowhere', (t) => {
  const { clock, routes, counter, stop } = counted(t);
  exchange(clock, { statusCode: 600 });
  assert.deepEqual(routes()['GET /'].statuses, {
    '1xx': 0,
    '2xx': 0,
    '3xx': 0,
    '4xx': 0,
    '5xx': 0,
  });
  finish.publish({ request: { method: 'GET', url: '/' }, response: { statusCode: 200 } });
  assert.equal(routes()['GET /'].count, 1);
  const again = counter.join();
  stop();
  stop();
  exchange(clock);
  assert.equal(routes()['GET /'].count, 2);
  again();
  exchange(clock);
  assert.equal(routes()['GET /'].count, 2);
  assert.equal(start.hasSubscribers, false);
  assert.equal(finish.hasSubscribers, false);
});

async function answer(url, agent) {
  const request = get(url, { agent });
  const [response] = await once(request, 'response');
  response.resume();
  await once(response, 'end');
  return response.statusCode;
}

test('servers of node:http, Express and Fastify are counted together, upgrades and clients that left are not', async (t) => {
  const watch = responses();
  t.after(() => watch.stop());
  const router = express.Router();
  router.get('/:post', (_request, response) => response.send('post'));
  const app = express();
  app.use('/users/:user', router);
  app.get('/broken', () => {
    throw new Error('broken');
  });
  app.set('env', 'test');
  // A connection that the client has kept is open, however long the machine lets it wait.
  const patient = { keepAliveTimeout: 600_000 };
  const plain = createServer(patient, (request, response) => {
    if (request.url === '/never') request.socket.destroy();
    else response.end('plain');
  });
  plain.on('upgrade', (_request, socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n'));
  const served = fastify();
  served.get('/items/:item', async () => 'item');
  await served.listen({ port: 0, host: '127.0.0.1' });
  const servers = [plain, createServer(patient, app)];
  for (const server of servers) await once(server.listen(0, '127.0.0.1'), 'listening');
  const agent = new Agent({ keepAlive: true });
  t.after(async () => {
    agent.destroy();
    for (const server of servers) server.close();
    await served.close();
  });
  const [one, two] = servers.map((server) => `http://127.0.0.1:${server.address().port}`);
  const three = `http://127.0.0.1:${served.server.address().port}`;
  for (const path of ['/x/1', '/x/2', '/x/3']) assert.equal(await answer(one + path, agent), 200);
  await assert.rejects(answer(`${one}/never`, agent));
  const socket = connect(plain.address().port, '127.0.0.1');
  socket.write('GET /up HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n');
  await once(socket.resume(), 'close');
  assert.equal(await answer(`${two}/users/7/first`, agent), 200);
  assert.equal(await answer(`${two}/users/8/second`, agent), 200);
  assert.equal(await answer(`${two}/broken`, agent), 500);
  assert.equal(await answer(`${two}/nowhere`, agent), 404);
  assert.equal(await answer(`${three}/items/some`, agent), 200);
  assert.equal(await answer(`${three}/nowhere`, agent), 404);

  const counts = Object.fromEntries(watch.routes().map(({ route, count }) => [route, count]));
  assert.deepEqual(counts, {
    'GET /x/:id': 3,
    'GET /users/:id/:post': 2,
    'GET /broken': 1,
    '(not found)': 2,
    'GET /items/:item': 1,
  });
  const broken = watch.routes().find(({ route }) => route === 'GET /broken');
  assert.equal(broken.statuses['5xx'], 1);
});

test('a server that is left out is not counted', async (t) => {
  const watch = responses();
  t.after(() => watch.stop());
  const server = createServer((_request, response) => response.end('metrics'));
  uncounted(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const agent = new Agent();
  t.after(() => server.close());
  const url = `http://127.0.0.1:${server.address().port}/left-out`;
  assert.equal(await answer(url, agent), 200);
  assert.equal(
    watch.routes().find(({ route }) => route === 'GET /left-out'),
    undefined,
  );
});

test('HTTP/2 is not counted, and not harmed', async (t) => {
  const watch = responses();
  t.after(() => watch.stop());
  const before = watch.routes().length;
  const server = createHttp2((_request, response) => response.end('two'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = http2(`http://127.0.0.1:${server.address().port}`);
  const stream = client.request({ ':path': '/two' });
  let text = '';
  for await (const chunk of stream.setEncoding('utf8')) text += chunk;
  assert.equal(text, 'two');
  client.close();
  server.close();
  assert.equal(watch.routes().length, before);
});
