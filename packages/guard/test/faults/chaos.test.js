// A crowd that behaves badly, on a server that is too busy: what was admitted is answered once, what was refused never ran, and nothing is
// forgotten. Injected: pipelining, clients that leave while they wait or are served, uploads that stop, handlers that block, answer
// later, answer twice, or never.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { test } from 'node:test';
import { guard } from '@millrace/guard';
import { randomNumbers, seeds } from '../../../base/test/random.js';

const crowd = 40;
const requestsEach = 12;

test('each request has one end', async (t) => {
  // One after the other, for as long as there is time.
  for (const seed of seeds(1)) await t.test(`seed ${seed}`, (each) => crowded(each, seed));
});

async function crowded(t, seed) {
  const random = randomNumbers(seed);
  const handled = new Map();
  let received = 0;
  const server = http.createServer((req, res) => {
    const id = req.url.slice(3);
    handled.set(id, (handled.get(id) ?? 0) + 1);
    handlers[req.url[1]](req, res, id);
  });
  const g = guard(server, {
    maxWait: { high: 150, normal: 100, low: 50 },
    classHeader: 'x-class',
    rejectDelay: { min: 5, max: 50 },
    maxQueue: 50,
    // Each kind of handler is a route.
    route: (req) => {
      received++;
      return `/${req.url[1]}`;
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.closeAllConnections());
  const { port } = server.address();

  const answers = new Map();
  await Promise.all(Array.from({ length: crowd }, (_, i) => client(port, random, `${i}`, answers)));
  // The connections are gone: those that never answer are over as well.
  await until(() => {
    const { queued, inFlight, rejectionsHeld } = g.stats();
    return queued === 0 && inFlight === 0 && rejectionsHeld === 0;
  });

  const twice = [...handled].filter(([, times]) => times > 1);
  assert.deepEqual(twice, [], 'handled twice');
  for (const [id, statuses] of answers) {
    assert.equal(statuses.length, 1, `${id} was answered ${statuses}`);
    assert.equal(handled.has(id), statuses[0] === 200, `${id}: ${statuses} though handled or not`);
  }
  const classes = Object.values(g.stats().classes);
  const sum = (of) => classes.reduce((total, each) => total + of(each), 0);
  const admitted = sum((each) => each.admitted);
  const shed = sum((each) => Object.values(each.shed).reduce((a, b) => a + b));
  const gone = sum((each) => each.gone);
  assert.equal(admitted, handled.size);
  assert.equal(admitted + shed + gone, received);
  assert.ok(shed > 0, 'nothing was shed: this was no overload');
  assert.ok([...answers.values()].flat().includes(200));
  const closed = once(server, 'close');
  g.close();
  server.close();
  server.closeAllConnections();
  await closed;
}

const handlers = {
  quick: (_req, res, id) => res.end(id),
  block: (_req, res, id) => {
    block(15);
    res.end(id);
  },
  later: (_req, res, id) => {
    block(2);
    setTimeout(() => {
      block(5);
      res.end(id);
    }, 5);
  },
  twice: (_req, res, id) => {
    res.end(id);
    res.end('again');
    res.on('error', () => {});
  },
  never: () => {},
  upload: (req, res, id) => {
    req.resume();
    req.on('error', () => {});
    req.on('end', () => res.end(id));
  },
};
for (const name of Object.keys(handlers)) handlers[name[0]] = handlers[name];

function block(ms) {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

async function until(isSo) {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** One client after another connection: requests, some of them pipelined; sometimes it leaves in the middle. */
async function client(port, random, name, answers) {
  for (let i = 0; i < requestsEach; ) {
    const socket = net.connect(port, '127.0.0.1');
    socket.on('error', () => {});
    await once(socket, 'connect');
    const ids = [];
    let isNever = false;
    let text = '';
    for (let n = 1 + random(3); n > 0 && !isNever; n--, i++) {
      const id = `${name}-${i}`;
      const kind = 'qqbbbllltnuu'[random(12)];
      isNever = kind === 'n';
      const cls = ['high', 'normal', 'low'][random(3)];
      const isWhole = kind !== 'u' || random(3) > 0;
      const head = `${kind === 'u' ? 'POST' : 'GET'} /${kind}/${id} HTTP/1.1\r\nHost: x\r\nX-Class: ${cls}\r\n`;
      text +=
        kind === 'u'
          ? `${head}Content-Length: 5\r\n\r\n${isWhole ? '12345' : '12'}`
          : `${head}\r\n`;
      ids.push(id);
      // After a body that does not end there is nothing to say.
      if (!isWhole) isNever = true;
    }
    socket.write(text);
    if (isNever || random(6) === 0) {
      // It leaves, sooner or later. What it has read by then counts.
      await Promise.race([read(socket, ids, answers), pause(random(60))]);
      if (random(2) === 0) socket.destroy();
      else socket.resetAndDestroy();
    } else {
      await read(socket, ids, answers);
      socket.end();
    }
  }
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Answers of pipelined requests come in order: resolves with the last, or when the connection ends. */
function read(socket, ids, answers) {
  return new Promise((resolve) => {
    let text = '';
    let next = 0;
    socket.setEncoding('latin1');
    socket.on('data', (chunk) => {
      text += chunk;
      for (;;) {
        const head = text.indexOf('\r\n\r\n') + 4;
        if (head < 4) return;
        const end = head + Number(/\r\ncontent-length: (\d+)/i.exec(text.slice(0, head))[1]);
        if (text.length < end) return;
        const status = Number(text.slice(9, 12));
        const body = text.slice(head, end);
        text = text.slice(end);
        const id = ids[next++];
        if (status === 200) assert.equal(body, id, 'somebody else’s answer');
        answers.set(id, [...(answers.get(id) ?? []), status]);
        if (next === ids.length) resolve();
      }
    });
    socket.on('close', resolve);
  });
}
