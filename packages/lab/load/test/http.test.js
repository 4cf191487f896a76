import assert from 'node:assert/strict';
import test, { mock } from 'node:test';
import { runHttp } from '../http.js';
import { serveCounted } from './counted.js';
import { serve } from './serve.js';

/** A server, and what loads it. */
async function loaded(t, answer) {
  const { url, brief, begin } = await serveCounted(t, answer);
  return (options) => runHttp({ ...brief, url, onBegin: begin, ...options });
}

test('good answers are counted with their size', async (t) => {
  const load = await loaded(t, (_request, response) => response.end('hello'));
  const result = await load({ expect: { body: (body) => body === 'hello' } });
  assert.equal(result.ok, true);
  assert.equal(result.partial, false);
  assert.deepEqual(result.status, { 200: result.answers });
  assert.equal(result.latency.n, result.answers);
  assert.equal(result.bytes.min, result.bytes.max);
  assert.equal(result.errors + result.mismatches + result.unexpected, 0);
});

test('each connection goes through the list of requests', async (t) => {
  const seen = new Set();
  const load = await loaded(t, (request, response) => {
    seen.add(`${request.method} ${request.url}`);
    response.end();
  });
  const requests = [{ path: '/a' }, { path: '/b', method: 'POST', body: 'x' }];
  assert.equal((await load({ requests })).ok, true);
  assert.deepEqual([...seen].sort(), ['GET /a', 'POST /b']);
});

test('other statuses than expected are distinguished', async (t) => {
  const load = await loaded(t, (_request, response, n) => {
    response.statusCode = n % 4 === 0 ? 503 : 201;
    response.end();
  });
  const result = await load();
  assert.equal(result.ok, false);
  assert.deepEqual(Object.keys(result.status), ['201', '503']);
  assert.equal(result.unexpected, result.status[503]);
  const wanted503 = await load({ expect: { status: 503 } });
  assert.equal(wanted503.unexpected, wanted503.status[201]);
});

test('bodies that the check refuses are mismatches', async (t) => {
  const load = await loaded(t, (_request, response, n) => response.end(n % 5 === 0 ? 'no' : 'yes'));
  const result = await load({ expect: { body: (body) => body === 'yes' } });
  assert.equal(result.ok, false);
  assert.ok(result.mismatches > 0);
});

test('connections that break are errors', async (t) => {
  const load = await loaded(t, (request, response, n) => {
    if (n % 10 === 0) request.socket.resetAndDestroy();
    else response.end();
  });
  const result = await load();
  assert.equal(result.ok, false);
  assert.ok(result.errors > 0);
});

test('requests that are cut without an answer are errors of the window', async (t) => {
  let cut = 0;
  const load = await loaded(t, (_request, response, n) => {
    if (n % 3 === 0) {
      cut += 1;
      response.socket.destroy();
    } else response.end(`${n}`);
  });
  const result = await load();
  assert.equal(result.ok, false);
  assert.ok(result.errors > 0 && result.early_errors > 0);
  // Those under way at the end of the window are in neither.
  assert.ok(result.errors + result.early_errors <= cut, `${result.errors} ${cut}`);
  assert.equal(result.timeouts, 0);
});

test('a server that says that it closes the connection cuts nothing', async (t) => {
  const load = await loaded(t, (_request, response) => {
    response.setHeader('connection', 'close').end('x');
  });
  const result = await load();
  assert.deepEqual([result.errors, result.early_errors, result.ok], [0, 0, true]);
});

test('bodies are counted in bytes', async (t) => {
  const body = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0x80, 0x81]);
  const load = await loaded(t, (_request, response) => response.end(body));
  const { groups } = await load();
  assert.equal(groups[0].bytes, 6);
});

test('an abort gives a partial result', async (t) => {
  const abort = new AbortController();
  const load = await loaded(t, (_request, response, n) => {
    if (n === 20) abort.abort();
    response.end();
  });
  const result = await load({ warmup: 0, seconds: 600, signal: abort.signal });
  assert.equal(result.partial, true);
});

test('a window whose first answer comes late goes on until then', async (t) => {
  const url = await serve(t, (_request, response) => {
    mock.timers.tick(500);
    response.end('x');
  });
  const result = await runHttp({ url, connections: 1, warmup: 0, seconds: 0.5 });
  assert.deepEqual([result.ok, result.answers], [true, 1]);
});

test('a window without an answer ends after the timeout', async (t) => {
  const url = await serve(t, () => {
    mock.timers.tick(500);
    mock.timers.tick(1000);
  });
  const result = await runHttp({ url, connections: 1, warmup: 0, seconds: 0.5, timeout: 1 });
  assert.deepEqual([result.ok, result.answers], [false, 0]);
});

test('a bad option is named with its value and what is allowed', async () => {
  const refuses = (options, message) =>
    assert.rejects(runHttp({ url: 'http://127.0.0.1:1/', ...options }), {
      code: 'MILLRACE_LAB_E_INVALID_OPTION',
      message,
    });
  await refuses({ connections: 0 }, 'connections 0: must be a number from 1 to 10000');
  await refuses({ seconds: 'x' }, 'seconds x: must be a number from 0.1 to 86400');
  for (const url of [
    'http://example.org/',
    'https://localhost/',
    'localhost',
    'http://127.0.0.1.x.org/',
  ]) {
    await refuses({ url }, new RegExp(`^url ${url.replaceAll('.', '\\.')}: must begin with http`));
  }
});
