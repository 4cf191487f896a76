/** Events that were emitted before the listener for them came. */
import assert from 'node:assert/strict';
import { EventEmitter, on, once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { observe } from 'millrace/observe';

class Cache extends EventEmitter {}

function observed(t) {
  const observation = observe();
  t.after(() => observation.stop());
  return observation;
}

const deadOf = (observation) =>
  observation.report().deadEmits.map(({ place, ...each }) => ({
    ...each,
    isHere: place.file === import.meta.filename && place.line > 1,
  }));

test('a listener that comes after the event is found, with its place', (t) => {
  const observation = observed(t);
  const cache = new Cache();
  cache.emit('ready');
  cache.emit('ready');
  cache.on('ready', () => {});
  const [{ place }] = observation.report().deadEmits;
  const line = new Error().stack.split('\n')[1].match(/:(\d+):\d+\)?$/)[1];
  assert.equal(place.line, Number(line) - 2);
  assert.deepEqual(deadOf(observation), [
    { event: 'ready', emitter: 'Cache', emits: 2, listeners: 1, isHere: true },
  ]);
});

for (const [name, listen] of Object.entries({
  once: (emitter) => emitter.once('a', () => {}),
  addListener: (emitter) => emitter.addListener('a', () => {}),
  prependListener: (emitter) => emitter.prependListener('a', () => {}),
  prependOnceListener: (emitter) => emitter.prependOnceListener('a', () => {}),
  'once of node:events': (emitter) => void once(emitter, 'a'),
})) {
  test(`a late listener by ${name} is found, and those of a name are one entry`, (t) => {
    const observation = observed(t);
    for (const emitter of [new EventEmitter(), new EventEmitter()]) {
      emitter.emit('a');
      listen(emitter);
    }
    assert.deepEqual(deadOf(observation), [
      { event: 'a', emitter: 'EventEmitter', emits: 2, listeners: 2, isHere: true },
    ]);
  });
}

test('no other event is dead', (t) => {
  const observation = observed(t);
  const emitter = new EventEmitter();
  emitter.on('heard', () => {});
  emitter.emit('heard');
  emitter.on('heard', () => {});
  emitter.emit('never heard');
  emitter.on('another', () => {});
  new EventEmitter().emit('of another');
  emitter.on('of another', () => {});
  const stream = new PassThrough();
  stream.emit('drain');
  stream.on('drain', () => {});
  assert.deepEqual(deadOf(observation), []);
});

test('an emitter works as without observation', (t) => {
  const { on, emit } = EventEmitter.prototype;
  const observation = observed(t);
  assert.notEqual(EventEmitter.prototype.emit, emit);
  assert.equal(EventEmitter.prototype.on, EventEmitter.prototype.addListener);
  const emitter = new EventEmitter();
  const got = [];
  assert.equal(emitter.emit('a', 1), false);
  emitter.on('a', function (...args) {
    got.push([this === emitter, ...args]);
  });
  assert.equal(emitter.emit('a', 1, 2, 3, 4), true);
  assert.deepEqual(got, [[true, 1, 2, 3, 4]]);
  assert.throws(() => emitter.emit('error', new TypeError('thrown')), /thrown/);
  assert.throws(() => emitter.on('a', null), { code: 'ERR_INVALID_ARG_TYPE' });
  observation.stop();
  assert.equal(EventEmitter.prototype.emit, emit);
  assert.equal(EventEmitter.prototype.on, on);
});

test('names are bounded, for an emitter and in all', (t) => {
  const observation = observed(t);
  const emitter = new EventEmitter();
  for (let i = 0; i < 100; i++) emitter.emit(`many ${i}`);
  for (let i = 0; i < 100; i++) emitter.on(`many ${i}`, () => {});
  assert.equal(observation.report().deadEmits.length, 16);
  for (let i = 0; i < 100; i++) {
    const each = new EventEmitter();
    each.emit(Symbol(`name ${i}`));
    each.emit(`name ${i}`);
    each.on(`name ${i}`, () => {});
  }
  assert.equal(observation.report().deadEmits.length, 50);
});

test('listeners of packages and of Node.js are left out', (t) => {
  const observation = observed(t);
  const folder = mkdtempSync(`${tmpdir()}/millrace-observe-`);
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(`${folder}/node_modules`);
  const file = `${folder}/node_modules/listens.cjs`;
  writeFileSync(file, "module.exports = (emitter) => emitter.on('a', () => {});");
  const listens = createRequire(import.meta.url)(file);
  const emitter = new EventEmitter();
  emitter.emit('a');
  listens(emitter);
  emitter.emit('b');
  on(emitter, 'b').return();
  emitter.emit('end');
  // It listens to 'end' of its input.
  createInterface({ input: Object.assign(emitter, { resume() {}, pause() {} }) }).close();
  assert.deepEqual(
    deadOf(observation).map(({ event }) => event),
    ['b'],
  );
});
