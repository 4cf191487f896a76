/** The interface of loopbench: what its documentation and its example promise, by a change of the import. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import http from 'node:http';
import { test } from 'node:test';
import loopbench, { Monitor, monitor } from '@millrace/monitor';
import { block, soon, turn } from './block.js';

test('is the default export, an EventEmitter with the same defaults', (t) => {
  assert.equal(loopbench, monitor);
  const instance = loopbench();
  t.after(() => instance.stop());
  assert.ok(instance instanceof EventEmitter);
  assert.ok(instance instanceof Monitor);
  assert.equal(instance.limit, 42);
  assert.equal(instance.sampleInterval, 5);
  assert.equal(instance.delay, 0);
  assert.equal(instance.overLimit, false);
});

test('a short block is measured and stays within the limit', async (t) => {
  const instance = loopbench({ limit: 60_000 });
  t.after(() => instance.stop());
  instance.on('load', () => assert.fail('no load'));
  instance.sampleInterval = 1;
  assert.equal(instance.sampleInterval, 1);
  block(4);
  await turn();
  assert.ok(instance.delay >= 4, `${instance.delay}`);
  assert.ok(!instance.overLimit);
});

test('load when the limit is passed, unload when the loop is calm again', async (t) => {
  const instance = loopbench({ sampleInterval: 1, limit: 10 });
  t.after(() => instance.stop());
  assert.equal(instance.limit, 10);
  assert.equal(instance.sampleInterval, 1);
  const load = once(instance, 'load');
  let atLoad;
  instance.once('load', () => {
    atLoad = { delay: instance.delay, overLimit: instance.overLimit };
  });
  const unload = once(instance, 'unload');
  block(50);
  await soon(() => load);
  assert.ok(atLoad.delay > 10, `${atLoad.delay}`);
  assert.ok(atLoad.overLimit);
  await soon(() => unload);
  assert.ok(!instance.overLimit);
  assert.ok(instance.delay <= 10, `${instance.delay}`);
});

test('its example: 503 for the request that came while the loop was blocked, then 200', async (t) => {
  // So that it is still over the limit when the request comes, however long the machine lets it wait.
  const instance = loopbench({ calm: 50 });
  const server = http.createServer((_, res) => {
    if (instance.overLimit) {
      res.statusCode = 503;
      res.setHeader('Retry-After', 10);
    }
    res.end();
  });
  const agent = new http.Agent({ keepAlive: true });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  const get = () => {
    const request = http.get({ port, host: '127.0.0.1', agent });
    return once(request, 'response').then(([response]) => {
      response.resume();
      return once(response, 'end').then(() => response);
    });
  };
  t.after(() => {
    instance.stop();
    agent.destroy();
    server.close();
  });
  const blocked = get();
  block(100);
  const first = await blocked;
  assert.equal(first.statusCode, 503);
  assert.equal(first.headers['retry-after'], '10');
  if (instance.overLimit) await soon(() => once(instance, 'unload'));
  instance.limit = 60_000;
  assert.equal((await get()).statusCode, 200);
});

test('a stopped one is silent', async () => {
  const instance = loopbench({ limit: 10 });
  const events = [];
  instance.on('load', () => events.push('load'));
  instance.stop();
  instance.stop();
  const other = loopbench({ limit: 10 });
  const load = once(other, 'load');
  block(30);
  await soon(() => load);
  other.stop();
  assert.deepEqual(events, []);
  assert.equal(instance.delay, 0);
});
