// The format of a batch: what is encoded comes back, and anything else is refused whole.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deserialize, serialize } from 'node:v8';
import { randomNumbers, seeds } from '../../base/test/random.js';
import { decodeEvent, encodeEvent, nameOf } from '../dist/events/record.js';
import { batchHead, decodeBatch, encodeBatch, newNode, recordBytes, split } from '../dist/wire.js';

const bytesOf = (random, most) =>
  Buffer.from(Array.from({ length: random(most) }, () => random(256)));

function randomBatch(random) {
  const sender = bytesOf(random, 2).length > 0 ? newNode() : 'AAAAAAAAAAAA';
  const sequence = [0, 1, 2 ** 32, 2 ** 48 - 1, random(2 ** 31)][random(5)];
  const records = Array.from({ length: random(6) }, () => ({
    flags: random(256),
    data: bytesOf(random, 40),
  }));
  return { sender, sequence, records };
}

const plain = ({ records, ...rest }) => ({
  ...rest,
  records: records.map(({ flags, data }) => ({ flags, data: Buffer.from(data).toString('hex') })),
});

test('a node is named by 12 characters of its own', () => {
  const nodes = Array.from({ length: 1000 }, newNode);
  assert.equal(new Set(nodes).size, 1000);
  for (const node of nodes) assert.match(node, /^[\w-]{12}$/);
});

test('encoded records are decoded unchanged, and their length is known before', () => {
  for (const seed of seeds(500)) {
    const batch = randomBatch(randomNumbers(seed));
    const bytes = encodeBatch(batch.sender, batch.sequence, batch.records);
    assert.deepEqual(plain(decodeBatch(bytes)), plain(batch), `seed ${seed}`);
    const length = batch.records.reduce(
      (sum, { data }) => sum + recordBytes(data.length),
      batchHead,
    );
    assert.equal(bytes.length, length, `seed ${seed}`);
    // As a part of a larger buffer, where NATS leaves it.
    const inside = Buffer.concat([Buffer.alloc(3), bytes, Buffer.alloc(3)]);
    const view = new Uint8Array(inside.buffer, inside.byteOffset + 3, bytes.length);
    assert.deepEqual(plain(decodeBatch(view)), plain(batch), `seed ${seed}`);
  }
});

test('data that is cut off, longer, or of another format is refused', () => {
  const bytes = encodeBatch(newNode(), 7, [
    { flags: 1, data: Buffer.from('one') },
    { flags: 2, data: Buffer.alloc(0) },
  ]);
  for (let length = 0; length < bytes.length; length++) {
    assert.equal(decodeBatch(bytes.subarray(0, length)), null, `${length} bytes`);
  }
  assert.equal(decodeBatch(Buffer.concat([bytes, Buffer.of(0)])), null);
  const changed = (at, value) => Buffer.from(bytes).fill(value, at, at + 1);
  assert.equal(decodeBatch(changed(0, 0)), null);
  assert.equal(decodeBatch(changed(1, 2)), null);
  assert.equal(decodeBatch(Buffer.from('{"json":true}'.repeat(5))), null);
});

test('a count alone costs no memory', () => {
  const bytes = encodeBatch(newNode(), 1, [{ flags: 0, data: Buffer.alloc(100) }]);
  for (const count of [2, 22, 0xffff, 0xffffffff]) {
    const hostile = Buffer.from(bytes);
    hostile.writeUInt32BE(count, batchHead - 4);
    assert.equal(decodeBatch(hostile), null);
  }
  const long = Buffer.from(bytes);
  long.writeUInt32BE(0xffffffff, batchHead + 1);
  assert.equal(decodeBatch(long), null);
});

test('fuzz: changed bytes are a batch that encodes to the same bytes, or none', () => {
  for (const seed of seeds(1200)) {
    const random = randomNumbers(seed);
    const { sender, sequence, records } = randomBatch(random);
    let bytes = encodeBatch(sender, sequence, records);
    for (let changes = 1 + random(4); changes > 0; changes--) {
      const at = random(bytes.length + 1);
      const kinds = [
        () => bytes.map((byte, index) => (index === at ? random(256) : byte)),
        () => bytes.subarray(0, at),
        () => Buffer.concat([bytes.subarray(0, at), bytesOf(random, 8), bytes.subarray(at)]),
        () => Buffer.concat([bytes.subarray(0, at), bytes]),
      ];
      bytes = Buffer.from(kinds[random(kinds.length)]());
    }
    const batch = decodeBatch(bytes);
    if (batch === null) continue;
    const again = encodeBatch(batch.sender, batch.sequence, batch.records);
    // The two bytes after the version have no meaning yet.
    bytes.fill(0, 2, 4);
    assert.deepEqual(again, bytes, `seed ${seed}`);
  }
});

test('records are divided in their order, none of the parts too large but one of a single record', () => {
  for (const seed of seeds(500)) {
    const random = randomNumbers(seed);
    const { records } = randomBatch(random);
    const most = batchHead + 1 + random(100);
    const parts = [...split(records, most)];
    assert.deepEqual(parts.flat(), records, `seed ${seed}`);
    for (const part of parts) {
      const { length } = encodeBatch(newNode(), 0, part);
      assert.ok(length <= most || part.length === 1, `seed ${seed}: ${length} of ${most}`);
    }
    // No two neighbours would have fitted together.
    for (let i = 1; i < parts.length; i++) {
      const both = encodeBatch(newNode(), 0, [...parts[i - 1], parts[i][0]]);
      assert.ok(both.length > most, `seed ${seed}`);
    }
  }
});

test('events go and come as structured clones, with their names and priorities', () => {
  const args = [
    1,
    'ä',
    null,
    undefined,
    new Map([[{ a: 1 }, new Set([2n])]]),
    new Date(5),
    /x/g,
    new Error('why'),
    Buffer.from('bytes'),
    new Float64Array([1.5]),
  ];
  for (const priority of ['high', 'normal', 'low', undefined]) {
    for (const name of ['message', 'größe', 'x'.repeat(255), '\n']) {
      const record = encodeEvent(name, args, priority);
      const [{ flags, data }] = decodeBatch(encodeBatch(newNode(), 1, [record])).records;
      assert.equal(nameOf({ flags, data }), name);
      const event = decodeEvent({ flags, data });
      assert.deepEqual(event.args, args);
      // It would keep the whole batch.
      assert.ok(event.args.find(Buffer.isBuffer).buffer !== data.buffer);
      assert.equal(event.priority, priority);
    }
  }
  assert.throws(() => encodeEvent('x', [() => {}], undefined), /could not be cloned/);
});

test('whatever the arguments are made of, a structured clone of them arrives', () => {
  const shared = { shared: true };
  const cycle = [];
  cycle.push(cycle);
  const leaves = [
    0,
    -0,
    1.5,
    2 ** 60,
    Number.NaN,
    Infinity,
    '',
    'ä',
    '\ud800',
    true,
    null,
    undefined,
    5n,
    new Date(7),
    /x/g,
    new Map([[1, 2]]),
    Buffer.from('b'),
    shared,
    cycle,
    Object(3),
    Object.create({ inherited: 1 }),
    new (class Own {
      x = 1;
    })(),
    Object.assign([1], { name: 'x' }),
    Object.assign([], { 0: 1, 2: 3 }),
    Object.assign(Array(1), { name: 'x' }),
    JSON.parse('{"__proto__": {"a": 1}}'),
    { toJSON: 'no function' },
    Array.from({ length: 70 }, () => ({})),
  ];
  const value = (random, depth) => {
    const kind = random(depth > 3 ? 1 : 3);
    if (kind === 0) return leaves[random(leaves.length)];
    const parts = Array.from({ length: random(4) }, () => value(random, depth + 1));
    return kind === 1 ? parts : Object.fromEntries(parts.map((part, i) => [`k${i}`, part]));
  };
  let asJson = 0;
  for (const seed of seeds(1200)) {
    const random = randomNumbers(seed);
    const args = Array.from({ length: random(3) }, () => value(random, 0));
    const record = encodeEvent('x', args, undefined);
    if (record.flags & 0x10) asJson++;
    const event = decodeEvent(record);
    assert.deepStrictEqual(event.args, deserialize(serialize(args)), `seed ${seed}`);
    // What is there twice is there twice.
    const twice = decodeEvent(encodeEvent('x', [shared, shared], undefined)).args;
    assert.equal(twice[0], twice[1]);
  }
  assert.ok(asJson > 100);
});

test('arguments that no sender sends are refused: too many for the stack, JSON that is nested deep', () => {
  const data = (json) => Buffer.concat([Buffer.of(1), Buffer.from(`x${json}`)]);
  const isRead = (flags, bytes) => decodeEvent({ flags, data: bytes }) !== null;
  const [plainJson, cloned] = [0x13, 3];
  assert.equal(isRead(plainJson, data('[1,[2]]')), true);
  for (const count of [1000, 1001]) {
    const many = Array(count).fill(1);
    const clone = Buffer.concat([Buffer.of(1), Buffer.from('x'), serialize(many)]);
    assert.equal(isRead(plainJson, data(JSON.stringify(many))), count === 1000);
    assert.equal(isRead(cloned, clone), count === 1000);
    if (count > 1000) assert.throws(() => encodeEvent('x', many), RangeError);
    else encodeEvent('x', many);
  }
  const deep = 400_000;
  assert.equal(isRead(plainJson, data(`[${'['.repeat(deep)}${']'.repeat(deep)}]`)), false);
});

test('fuzz: an event with changed bytes is an event, or none', () => {
  for (const seed of seeds(1200)) {
    const random = randomNumbers(seed);
    const args = random(2)
      ? [{ a: [1, 'x'] }, null]
      : [{ a: [1, 2, new Map([[1, 'x']])], b: Buffer.from('abc') }, 'text', 2 ** 40, [random(9)]];
    const { flags, data } = encodeEvent('name', args, undefined);
    for (let changes = 1 + random(3); changes > 0; changes--)
      data[random(data.length)] = random(256);
    const part = data.subarray(0, random(3) === 0 ? random(data.length) : data.length);
    const record = { flags: random(4) === 0 ? random(256) : flags, data: part };
    const name = nameOf(record);
    assert.ok(name === null || typeof name === 'string', `seed ${seed}`);
    if (name === null) continue;
    const event = decodeEvent(record);
    assert.ok(event === null || Array.isArray(event.args), `seed ${seed}`);
  }
});
