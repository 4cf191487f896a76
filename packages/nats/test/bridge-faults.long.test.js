// bridge() when the broker, a node or the network fails: local listeners get all, and what others miss is counted.
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { test } from 'node:test';
import { bridge } from '@millrace/nats/events';
import { emit, heard, last, own, start, stats } from './bridged.js';
import { machines } from './namespaces.js';
import { natsServer, unable } from './nats.js';
import { patiently } from './patience.js';
import { node } from './process.js';
import { proxy } from './proxy.js';

const skip = unable;

test('events lost while the broker is away are counted by sender and receiver', {
  skip,
}, async (t) => {
  const server = await natsServer(t);
  const options = { broker: server.url, events: ['x'] };
  const [a, b] = [new EventEmitter(), new EventEmitter()];
  const [ofA, ofB] = await Promise.all([a, b].map((each) => own(t, each, options)));
  const here = [];
  a.on('x', (n) => here.push(n));
  const got = [];
  b.on('x', (n) => got.push(n));
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  a.emit('x', 1);
  while (got.length < 1) await turn();
  await server.kill();
  while (ofA.stats().link.state === 'up' || ofB.stats().link.state === 'up') await turn();
  a.emit('x', 2);
  a.emit('x', 3);
  await turn();
  a.emit('x', 4);
  await turn();
  await server.start();
  await Promise.all([ofA, ofB].map((each) => patiently(() => each.ready())));
  a.emit('x', 5);
  while (got.length < 2) await turn();
  assert.deepEqual(
    [here, got],
    [
      [1, 2, 3, 4, 5],
      [1, 5],
    ],
  );
  assert.deepEqual([ofA.stats().unsent, ofA.stats().sent], [3, 2]);
  // Two turns had something to say.
  assert.equal(ofB.stats().missed, 2);
});

test('a node that stands still is cut off by the broker, and knows afterwards what it missed', {
  skip,
}, async (t) => {
  const server = await natsServer(t, {
    config: 'max_payload: 500000\nmax_pending: 1000000\nwrite_deadline: "1s"',
  });
  const options = { broker: server.url, events: ['x'] };
  const [slow, fast] = await Promise.all([1, 2].map(() => start(t, options)));
  const emitter = new EventEmitter();
  const sender = await own(t, emitter, options);
  const text = 'x'.repeat(100_000);
  emitter.emit('x', 'first');
  while ((await stats(slow)).received < 1) await new Promise((resolve) => setTimeout(resolve, 5));
  slow.pause();
  // More than sockets and the broker keep for it; never more than others take.
  for (let i = 1; i <= 200; i++) {
    emitter.emit('x', text);
    while ((await stats(fast)).received < i) await new Promise((resolve) => setImmediate(resolve));
  }
  slow.resume();
  let all;
  do {
    emitter.emit('x', 'later');
    await new Promise((resolve) => setTimeout(resolve, 20));
    all = await stats(slow);
  } while (all.missed === 0 || all.link.state !== 'up');
  emitter.emit('x', 'last');
  await last(slow);
  await last(fast);
  const { batches } = sender.stats();
  const { received, missed } = await stats(slow);
  assert.equal(received + missed, batches, 'each batch has one event here');
  assert.ok(missed > 0);
  assert.deepEqual([(await stats(fast)).received, (await stats(fast)).missed], [batches, 0]);
});

for (const namespaces of [true, false]) {
  const where = namespaces ? 'machines where the host allows it' : 'a proxy';
  test(`a cable is pulled out and plugged in: all arrives late, or is counted (${where})`, {
    skip,
  }, async (t) => {
    const net = await machines(t, 2, { namespaces });
    t.diagnostic(net.isReal ? 'network namespaces' : 'proxies');
    const [a, b] = await Promise.all(
      net.machines.map(({ url, node: run }) => start(t, { broker: url, events: ['x'] }, { run })),
    );
    const said = [];
    for (let i = 0; i < 20; i++) {
      if (i === 5) {
        // Messages on their way might be lost with a connection that is given up.
        while ((await stats(b)).received < 5)
          await new Promise((resolve) => setTimeout(resolve, 5));
        net.machines[0].cut();
      }
      if (i === 15) net.machines[0].heal();
      await emit(a, [['x', i]]);
      said.push(i);
    }
    await emit(a, [['x', 'last']]);
    await last(b);
    const got = (await heard(b)).map(([, n]) => n);
    assert.deepEqual(got.slice(0, 5), said.slice(0, 5));
    const { missed } = await stats(b);
    assert.equal(got.length + missed, 21);
    assert.deepEqual(
      got,
      [...said, 'last'].filter((n) => got.includes(n)),
    );
  });
}

test('a listener that throws does not keep others from their events', { skip }, async (t) => {
  const { url: broker } = await natsServer(t);
  const peer = node(t, new URL('./programs/bridge-throws.js', import.meta.url), { BROKER: broker });
  assert.deepEqual(await peer.says(), { thrown: ['of 1', 'of 2'], local: 'of 3', got: [1, 2, 4] });
  assert.equal(await peer.ends(), 0);
});

test('a bridge works before its broker is there', { skip }, async (t) => {
  const server = await natsServer(t);
  const between = await proxy(t, server.port);
  between.cut();
  const [a, b] = [new EventEmitter(), new EventEmitter()];
  const early = bridge(a, { broker: { servers: between.url, connectTimeout: 50 }, events: ['x'] });
  t.after(() => early.close());
  const here = once(a, 'x');
  a.emit('x', 1);
  assert.deepEqual(await here, [1]);
  await assert.rejects(early.ready(), { code: 'MILLRACE_E_BROKER' });
  between.heal();
  const other = await own(t, b, { broker: server.url, events: ['x'] });
  const got = once(b, 'x');
  while (early.stats().link.state !== 'up') await new Promise((resolve) => setImmediate(resolve));
  a.emit('x', 2);
  assert.deepEqual(await got, [2]);
  assert.deepEqual([early.stats().unsent, early.stats().sent, other.stats().received], [1, 1, 1]);
});
