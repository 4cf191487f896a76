import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import test from 'node:test';
import autocannon from 'autocannon';
import { Exchanges } from '../exchanges.js';
import { serve } from './serve.js';

const { version } = createRequire(import.meta.url)('autocannon/package.json');

/** What ../http.js and ../exchanges.js take from inside autocannon, which its documentation does not promise. */
const say = (what) =>
  `autocannon ${version} ${what}: packages/lab/load/http.js and exchanges.js rely on it`;

/** What it uses of an object, by name, while it has it. */
function watched(object, used) {
  return new Proxy(object, {
    get(target, name) {
      used.add(String(name));
      const value = target[name];
      return typeof value === 'function' ? value.bind(target) : value;
    },
    set(target, name, value) {
      used.add(String(name));
      target[name] = value;
      return true;
    },
  });
}

const ASKED = ['addBody', 'addByteCount', 'insertRequest', 'setHeaders', 'terminateRequest'];

test('autocannon asks the list of requests that the lab gives it, and for nothing else', async (t) => {
  const url = await serve(t, (request, response, n) => {
    if (n === 3) request.socket.destroy();
    else response.end('hello');
  });
  const used = new Set();
  const instance = autocannon({
    ...{ url, connections: 1, amount: 6, timeout: 600 },
    setupClient(client) {
      assert.ok(client.pipelinedRequests, say('has no client.pipelinedRequests any more'));
      client.pipelinedRequests = watched(new Exchanges(() => {}), used);
    },
  });
  await instance;
  for (const name of ASKED) assert.ok(used.has(name), say(`does not call ${name} any more`));
  const own = Object.getOwnPropertyNames(Exchanges.prototype);
  for (const name of used) assert.ok(own.includes(name), say(`asks for ${name}, which is new`));
});

test('autocannon tells of answers as the lab reads them', async (t) => {
  const url = await serve(t, (_request, response) => response.end('hello'));
  const [clients, answers, responses] = [[], [], []];
  const instance = autocannon({
    ...{ url, connections: 2, amount: 4, timeout: 600 },
    setupClient: (client) => clients.push(client),
    requests: [{ onResponse: (...given) => answers.push(given) }],
  });
  instance.on('response', (...given) => responses.push(given));
  await instance;
  assert.equal(clients.length, 2, say('does not call setupClient for each connection any more'));
  const [status, body, , head] = answers[0];
  assert.deepEqual([status, `${body}`], [200, 'hello'], say('calls onResponse otherwise'));
  assert.ok(head, say('gives onResponse no headers as the fourth argument'));
  const [client, code, bytes, ms] = responses[0];
  assert.ok(clients.includes(client), say("gives the event 'response' no client"));
  const types = [code, typeof bytes, typeof ms];
  assert.deepEqual(types, [200, 'number', 'number'], say("tells of a 'response' otherwise"));
});
