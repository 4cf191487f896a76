// Who gets in.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { serveDashboard } from 'millrace/dashboard';
import { stillClock } from '../../../../base/test/clocks.js';
import { RateLimit } from '../../../dist/tools/dashboard/access.js';
import { ask, change, feature, serve, watch } from './support.js';

const token = 'a token of good length';

test('only names of this machine in the Host header', async (t) => {
  const dashboard = await serve(t);
  const status = async (host) =>
    (await ask(dashboard, '/api/snapshot', { headers: { host } })).status;
  const { port } = dashboard;
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, '127.8.8.8']) {
    assert.equal(await status(host), 200, host);
  }
  for (const host of [
    `evil.example:${port}`,
    'localhost.evil.example',
    '10.0.0.1',
    '127.0.0.1.evil.example',
  ]) {
    assert.equal(await status(host), 403, host);
  }
});

test('an address that others can reach needs a token', async (t) => {
  await assert.rejects(serveDashboard({ host: '0.0.0.0', port: 0 }), {
    code: 'MILLRACE_E_INVALID_OPTION',
    message: /'token' is null; it must be given for 0\.0\.0\.0.*MILLRACE_DASHBOARD_TOKEN/,
  });
  const dashboard = await serve(t, { host: '0.0.0.0', token });
  const status = async (headers) => (await ask(dashboard, '/metrics', { headers })).status;
  assert.equal(await status({}), 401);
  assert.equal(await status({ authorization: 'Bearer something else' }), 401);
  assert.equal(await status({ authorization: `Bearer ${token}` }), 200);
  assert.equal(await status({ authorization: `Bearer ${token}`, host: 'my.server' }), 200);
});

test('options that cannot be', async () => {
  for (const options of [
    { port: -1 },
    { port: 1.5 },
    { port: 65_536 },
    { host: '' },
    { token: 'short' },
  ]) {
    await assert.rejects(serveDashboard(options), { code: 'MILLRACE_E_INVALID_OPTION' });
  }
  await assert.rejects(
    serveDashboard({ token: 'short' }),
    ({ message }) => !message.includes('short'),
  );
});

test('a token in the address becomes a cookie', async (t) => {
  const dashboard = await serve(t, { token });
  assert.equal((await ask(dashboard, '/')).status, 401);
  assert.equal((await ask(dashboard, '/?token=wrong')).status, 401);
  const given = await ask(dashboard, `/?token=${encodeURIComponent(token)}`);
  assert.equal(given.status, 303);
  assert.equal(given.headers.location, './');
  const [cookie] = given.headers['set-cookie'];
  assert.match(cookie, /HttpOnly; SameSite=Lax/);
  const headers = { cookie: `other=1; ${cookie.split(';')[0]}` };
  assert.equal((await ask(dashboard, '/', { headers })).status, 200);
  assert.equal((await watch(t, dashboard, headers)).status, 200);
  assert.equal(
    (await ask(dashboard, '/', { headers: { cookie: 'millrace_dashboard_1=%' } })).status,
    401,
  );
});

test('changes come from the page itself', async (t) => {
  const ws = feature('ws');
  const dashboard = await serve(t, { features: { ws } });
  const body = { process: 'all', feature: 'ws', on: false };
  const host = `127.0.0.1:${dashboard.port}`;
  const refused = [
    { origin: 'http://evil.example' },
    { origin: `http://127.0.0.1:${dashboard.port + 1}` },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ];
  for (const headers of refused) {
    assert.equal((await change(dashboard, body, { host, ...headers })).status, 403);
  }
  assert.equal((await change(dashboard, body, { 'content-type': 'text/plain' })).status, 415);
  assert.equal(ws.state, 'active');
  const own = { host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' };
  assert.equal((await change(dashboard, body, own)).status, 200);
  assert.equal(ws.state, 'off');
});

test('behind a proxy that puts its own name into Host', async (t) => {
  const ws = feature('ws');
  const dashboard = await serve(t, { token, features: { ws } });
  const headers = { host: 'inner:80', authorization: `Bearer ${token}` };
  assert.equal((await ask(dashboard, '/', { headers })).status, 200);
  const body = { process: 'all', feature: 'ws', on: false };
  const browser = { ...headers, origin: 'https://outer.example' };
  assert.equal((await change(dashboard, body, browser)).status, 403);
  const own = { ...browser, 'sec-fetch-site': 'same-origin' };
  assert.equal((await change(dashboard, body, own)).status, 200);
});

test('invalid requests are rejected with the reason', async (t) => {
  const dashboard = await serve(t, { features: { ws: feature('ws') } });
  const statusOf = async (body) => (await change(dashboard, body)).status;
  assert.equal(await statusOf('no JSON'), 400);
  assert.equal(await statusOf('null'), 400);
  assert.equal(await statusOf({ process: 'all', feature: 'ws', on: 1 }), 400);
  assert.equal(await statusOf({ process: '1', feature: 'ws', on: true }), 404);
  assert.equal(await statusOf({ process: 'all', feature: 'toString', on: true }), 404);
  assert.equal(await statusOf({ process: `${process.pid}`, feature: 'toString', on: true }), 409);
  assert.equal(await statusOf(JSON.stringify({ process: 'x'.repeat(5000) })), 413);
  for (const path of ['//', '//[', '//a:99999/']) {
    assert.equal((await ask(dashboard, path)).status, 400, path);
  }
  assert.equal((await ask(dashboard, '/api/features')).status, 405);
  assert.equal((await ask(dashboard, '/', { method: 'DELETE' })).status, 405);
  for (const path of ['/../package.json', '/%2e%2e/package.json', '/main.ts', '/__proto__']) {
    assert.equal((await ask(dashboard, path)).status, 404, path);
  }
});

test('a refused client frees its connection', async (t) => {
  const dashboard = await serve(t, { token });
  for (const path of ['/', '/api/events', '//[']) {
    assert.equal((await ask(dashboard, path, { keepAlive: true })).headers.connection, 'close');
  }
});

test('each answer forbids what the page does not need', async (t) => {
  const dashboard = await serve(t);
  for (const path of ['/', '/main.js', '/uplot.js', '/uplot.css', '/api/snapshot', '/none']) {
    const { headers } = await ask(dashboard, path);
    assert.match(headers['content-security-policy'], /default-src 'none'; script-src 'self';/);
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['cross-origin-resource-policy'], 'same-origin');
  }
});

test('after many wrong tokens none is looked at for a while', async (t) => {
  const dashboard = await serve(t, { token });
  const right = { authorization: `Bearer ${token}` };
  const open = await watch(t, dashboard, right);
  // They are forgotten after a minute.
  stillClock(t);
  const guesses = [
    () => ask(dashboard, '/?token=guess'),
    () => ask(dashboard, '/metrics', { headers: { authorization: 'Bearer guess' } }),
    () =>
      ask(dashboard, '/', { headers: { cookie: `millrace_dashboard_${dashboard.port}=guess` } }),
  ];
  // Who shows no token does not guess.
  for (let i = 0; i < 30; i++) assert.equal((await ask(dashboard, '/')).status, 401);
  for (let i = 0; i < 20; i++) assert.equal((await guesses[i % 3]()).status, 401);
  for (const each of [...guesses, () => ask(dashboard, '/metrics', { headers: right })]) {
    const { status, headers } = await each();
    assert.equal(status, 429);
    assert.ok(Number(headers['retry-after']) >= 1 && Number(headers['retry-after']) <= 60);
  }
  assert.equal(open.status, 200);
});

test('wrong tokens are forgotten after a minute, and of many addresses the oldest are', () => {
  const attempts = new RateLimit();
  for (let i = 0; i < 20; i++) attempts.wrong('a', 1000);
  assert.equal(attempts.waitSeconds('a', 1000), 60);
  assert.equal(attempts.waitSeconds('b', 1000), 0);
  assert.equal(attempts.waitSeconds('a', 60_500), 1);
  assert.equal(attempts.waitSeconds('a', 61_000), 0);
  for (let i = 0; i < 20; i++) attempts.wrong('a', 61_000);
  for (let i = 0; i < 1024; i++) attempts.wrong(`${i}`, 61_000);
  assert.equal(attempts.waitSeconds('a', 61_000), 0);
});

test('connections that say nothing keep nobody out', async (t) => {
  const dashboard = await serve(t);
  const opened = async () => {
    const socket = connect(dashboard.port, '127.0.0.1').on('error', () => {});
    t.after(() => socket.destroy());
    await once(socket, 'connect');
    return socket;
  };
  const watched = await watch(t, dashboard);
  const first = await opened();
  const ended = once(first, 'close');
  for (let i = 0; i < 360; i++) await opened();
  assert.equal((await ask(dashboard, '/api/snapshot')).status, 200);
  await ended;
  assert.equal(watched.status, 200);
  await watched.next('sample');
});
