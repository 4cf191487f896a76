// bridge(): events that an emitter emits in one process are emitted in others.
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BatchEmitter } from 'millrace';
import { Link } from '../dist/link.js';
import { encodeBatch } from '../dist/wire.js';
import { emit, heard, last, own, start, stats } from './bridged.js';
import { natsServer, unable } from './nats.js';
import { patient } from './patience.js';

const skip = unable;

test('three processes: all hear all, each once, in the order of each sender, across names', {
  skip,
}, async (t) => {
  const { url: broker } = await natsServer(t);
  const events = ['one', 'two'];
  const peers = await Promise.all([1, 2, 3].map(() => start(t, { broker, events })));
  const count = 600;
  const of = (who) => Array.from({ length: count }, (_, i) => [events[i % 2], who, i]);
  await Promise.all(peers.map((peer, who) => emit(peer, of(who), true)));
  const expected = [0, 1, 2].map((who) => of(who));
  for (const [me, peer] of peers.entries()) {
    const all = [];
    while (all.length < 3 * count) all.push(...(await heard(peer)));
    for (const who of [0, 1, 2]) {
      assert.deepEqual(
        all.filter((event) => event[1] === who),
        expected[who],
        `${me} hears ${who}`,
      );
    }
    const { sent, received, missed, unsent, malformed } = await stats(peer);
    assert.deepEqual(
      { sent, received, missed, unsent, malformed },
      { sent: count, received: 2 * count, missed: 0, unsent: 0, malformed: 0 },
    );
  }
});

test('events of one turn are one message', { skip }, async (t) => {
  const { url: broker } = await natsServer(t);
  const [a, b] = [new BatchEmitter(), new BatchEmitter()];
  const events = ['x', 'y'];
  const bridges = await Promise.all([a, b].map((each) => own(t, each, { broker, events })));
  const got = [];
  for (const name of events) b.on(name, (...args) => got.push([name, ...args]));
  const done = once(b, 'y');
  for (let i = 0; i < 100; i++) a.emit('x', i, { i });
  a.emit('local', 1);
  a.emit('y');
  await done;
  assert.deepEqual(got, [...Array.from({ length: 100 }, (_, i) => ['x', i, { i }]), ['y']]);
  const { sent, batches, link } = bridges[0].stats();
  assert.deepEqual({ sent, batches, messages: link.sent }, { sent: 101, batches: 1, messages: 1 });
  assert.equal(bridges[1].stats().link.received, 1);
});

test('turns that may be held arrive whole and in order, and a high event does not wait', {
  skip,
}, async (t) => {
  const { url: broker } = await natsServer(t);
  const [a, b] = [new BatchEmitter(), new EventEmitter()];
  const hold = { maxDelay: 60_000, minSaving: 0 };
  const [from] = await Promise.all([
    own(t, a, { broker, events: ['x', 'last'], ...hold }),
    own(t, b, { broker, events: ['x', 'last'] }),
  ]);
  const got = [];
  b.on('x', (number) => got.push(number));
  const done = once(b, 'last');
  const count = 2000;
  for (let number = 0; number < count; number++) {
    a.emit('x', number);
    await nextTurn();
  }
  a.push('last', [], { priority: 'high' });
  await done;
  assert.deepEqual(
    got,
    Array.from({ length: count }, (_, i) => i),
  );
  const { sent, unsent } = from.stats();
  assert.deepEqual({ sent, unsent }, { sent: count + 1, unsent: 0 });
});

test('arguments that a listener changes after emit() arrive unchanged', { skip }, async (t) => {
  const { url: broker } = await natsServer(t);
  const [a, b] = [new EventEmitter(), new EventEmitter()];
  for (const each of [a, b]) await own(t, each, { broker, events: ['x'] });
  const value = { n: 1, buffer: Buffer.from('abc') };
  const arrived = once(b, 'x');
  a.emit('x', value);
  value.n = 2;
  value.buffer.fill(0);
  assert.deepEqual(await arrived, [{ n: 1, buffer: Buffer.from('abc') }]);
});

test('the priority of a push goes along', { skip }, async (t) => {
  const { url: broker } = await natsServer(t);
  const [a, b] = [
    new BatchEmitter({ maxDeferral: 3_600_000 }),
    new BatchEmitter({ maxDeferral: 3_600_000 }),
  ];
  for (const each of [a, b]) await own(t, each, { broker, events: ['x', 'y'] });
  const got = [];
  b.on('x', (n) => got.push(n)).on('y', (n) => got.push(n));
  const done = once(b, 'y');
  a.push('x', [1], { priority: 'low' });
  a.emit('x', 2);
  a.push('x', [3], { priority: 'high' });
  a.push('y', [4], { priority: 'low' });
  const pushed = a.push('x', [5]);
  assert.equal(pushed.cancel(), true);
  assert.equal(pushed.type, 'x');
  await done;
  assert.deepEqual(got, [3, 2, 1, 4]);
});

test('an event that is not taken here is not sent either', { skip }, async (t) => {
  const { url: broker } = await natsServer(t);
  const [a, b] = [new BatchEmitter({ maxQueue: 1 }), new BatchEmitter({ maxQueue: 2 })];
  const bridges = [];
  for (const each of [a, b]) bridges.push(await own(t, each, { broker, events: ['x', 'y'] }));
  const got = [];
  b.on('x', (n) => got.push(n));
  a.emit('x', 1);
  assert.throws(() => a.emit('x', 2), { code: 'MILLRACE_E_OVERLOADED' });
  a.flush();
  a.emit('x', 3);
  a.flush();
  a.emit('y', 4);
  while (bridges[1].stats().received < 3) await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  // Of the three that came at once the other emitter took two.
  assert.deepEqual(got, [1, 3]);
  assert.equal(bridges[1].stats().refused, 1);
  assert.equal(bridges[0].stats().sent, 3);
});

test('an event that cannot be sent is delivered here, and reported', { skip }, async (t) => {
  const { url: broker } = await natsServer(t, { config: 'max_payload: 5000' });
  const [a, b] = [new EventEmitter(), new EventEmitter()];
  const lost = [];
  const onLost = ({ code, message }, name, args) => lost.push([code, message, name, args.length]);
  const sender = await own(t, a, { broker, events: ['x'], onLost });
  await own(t, b, { broker, events: ['x'] });
  const here = [];
  a.on('x', (value) => here.push(typeof value));
  const got = [];
  const done = new Promise((resolve) => {
    b.on('x', (value) => {
      got.push(value.length);
      if (value === 'last') resolve();
    });
  });
  a.emit('x', () => {});
  a.emit('x', 'x'.repeat(5000));
  // Those of a turn that are too large together leave in several messages.
  for (let i = 0; i < 5; i++) a.emit('x', 'x'.repeat(1900));
  a.emit('x', 'last');
  await done;
  assert.deepEqual(here, ['function', ...Array(7).fill('string')]);
  assert.deepEqual(got, [1900, 1900, 1900, 1900, 1900, 4]);
  assert.deepEqual(
    lost.map(([code, , name, args]) => [code, name, args]),
    [
      ['MILLRACE_E_INVALID_ARGUMENT', 'x', 1],
      ['MILLRACE_E_TOO_LARGE', 'x', 1],
    ],
  );
  assert.match(
    lost[0][1],
    /^the arguments of the event "x" cannot be cloned: .*; it was emitted here alone$/,
  );
  assert.match(lost[1][1], /^an event "x" of 50\d\d bytes is above the broker's limit of 4977;/);
  const { unfit, batches, sent } = sender.stats();
  assert.deepEqual({ unfit, batches, sent }, { unfit: 2, batches: 3, sent: 6 });
});

test('without onLost there is one warning for each name and code', { skip }, async (t) => {
  const { url: broker } = await natsServer(t);
  const emitter = new EventEmitter();
  await own(t, emitter, { broker, events: ['x'] });
  const warned = once(process, 'warning');
  emitter.emit('x', () => {});
  emitter.emit('x', () => {});
  const [{ name, code, message }] = await warned;
  assert.deepEqual([name, code], ['MillraceWarning', 'MILLRACE_E_INVALID_ARGUMENT']);
  assert.match(message, /further ones are counted/);
});

test('messages that are no batch are counted and harm nobody', { skip }, async (t) => {
  const { url: broker } = await natsServer(t);
  const [a, b] = [new EventEmitter(), new EventEmitter()];
  await own(t, a, { broker, events: ['x', 'only here'] });
  const receiver = await own(t, b, { broker, events: ['x'] });
  const raw = await new Link(patient(broker), 'bridge').ready();
  t.after(() => raw.close());
  const subject = raw.subject('bridge', 'events');
  const send = (bytes) => raw.publish(subject, bytes);
  send(Buffer.alloc(0));
  send(Buffer.from('{"json": true}'));
  send(Buffer.alloc(100_000, 0x4d));
  const name = (text) => Buffer.concat([Buffer.of(text.length), Buffer.from(text)]);
  const records = [
    { flags: 9, data: name('x') },
    { flags: 3, data: Buffer.of(200, 1) },
    { flags: 3, data: Buffer.concat([name('x'), Buffer.from('no clone')]) },
    { flags: 3, data: name('error') },
  ];
  send(encodeBatch(raw.node, 1, records));
  send(encodeBatch(raw.node, 5, []));
  await raw.flush();
  const got = once(b, 'x');
  a.emit('only here', 1);
  a.emit('x', 'still works');
  assert.deepEqual(await got, ['still works']);
  const { malformed, ignored, missed, received } = receiver.stats();
  assert.deepEqual(
    { malformed, ignored, missed, received },
    { malformed: 6, ignored: 2, missed: 3, received: 1 },
  );
});

test('other channels and namespaces are not heard', { skip }, async (t) => {
  const { url } = await natsServer(t);
  const events = ['x'];
  const options = [
    { broker: url, events },
    { broker: url, events, channel: 'other.>' },
    { broker: { servers: url, namespace: 'other' }, events },
  ];
  const emitters = await Promise.all(
    options.map(async (each) => {
      const emitter = new EventEmitter();
      await own(t, emitter, each);
      return emitter;
    }),
  );
  const got = [];
  for (const [index, emitter] of emitters.entries())
    emitter.on('x', (from) => got.push([index, from]));
  const sixth = await own(t, new EventEmitter(), options[1]);
  for (const [index, emitter] of emitters.entries()) emitter.emit('x', index);
  while (sixth.stats().received === 0) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(got, [
    [0, 0],
    [1, 1],
    [2, 2],
  ]);
});

test('after close() the emitter is as before', { skip }, async (t) => {
  const { url: broker } = await natsServer(t);
  const [a, b] = [new BatchEmitter(), new BatchEmitter()];
  const [ofA] = await Promise.all([a, b].map((each) => own(t, each, { broker, events: ['x'] })));
  const got = [];
  b.on('x', (n) => got.push(n));
  a.emit('x', 1);
  const done = once(b, 'x');
  await ofA.close();
  await ofA.close();
  await done;
  a.emit('x', 2);
  assert.equal(ofA.stats().sent, 1);
  // It may have another one then.
  await own(t, a, { broker, events: ['x'] });
  const again = once(b, 'x');
  a.emit('x', 3);
  await again;
  assert.deepEqual(got, [1, 3]);
  assert.equal(ofA.stats().sent, 1);
});

test('a plain EventEmitter hears and is heard by others', { skip }, async (t) => {
  const { url: broker } = await natsServer(t);
  const options = { broker, events: ['x'] };
  const [a, b] = await Promise.all([{ PLAIN: '1' }, {}].map((env) => start(t, options, { env })));
  await emit(a, [
    ['x', 1, 2],
    ['x', 'last'],
  ]);
  await last(b);
  await emit(b, [
    ['x', 3],
    ['x', 'last'],
  ]);
  while ((await stats(a)).received < 2) await new Promise((resolve) => setImmediate(resolve));
  const expected = [
    ['x', 1, 2],
    ['x', 'last'],
    ['x', 3],
    ['x', 'last'],
  ];
  assert.deepEqual([await heard(a), await heard(b)], [expected, expected]);
});
