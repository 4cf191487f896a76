/** lineChunks(): pieces of whole lines out of a stream. */
import assert from 'node:assert/strict';
import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { after, test } from 'node:test';
import { randomNumbers, seeds } from '../../base/test/random.js';
import { lineChunks } from '../dist/chunks.js';

const folder = mkdtempSync(join(tmpdir(), 'millrace-lines-'));
after(() => rmSync(folder, { recursive: true }));

async function all(source, options) {
  const pieces = [];
  for await (const piece of lineChunks(source, options)) pieces.push(piece);
  return pieces;
}
const texts = (pieces) =>
  pieces.map(({ data, complete }) => `${Buffer.from(data)}${complete ? '' : '…'}`);

/** The same out of all the bytes at once. */
function expected(content, bytes, maxBytes, delimiter) {
  const pieces = [];
  let isLong = false;
  for (let start = 0; start < content.length; ) {
    const rest = content.subarray(start);
    const piece = (size, complete) => {
      pieces.push({ data: rest.subarray(0, size), complete });
      start += size;
      isLong = !complete;
    };
    const window = rest.subarray(0, bytes);
    const last = window.lastIndexOf(delimiter);
    const first = rest.subarray(0, maxBytes).indexOf(delimiter);
    if (!isLong && rest.length <= bytes) piece(rest.length, true);
    else if (!isLong && last >= 0) piece(last + delimiter.length, true);
    else if (first >= 0) piece(first + delimiter.length, true);
    else if (rest.length <= maxBytes) piece(rest.length, true);
    else piece(maxBytes - delimiter.length + 1, false);
  }
  return pieces;
}

const delimiters = ['\n', '\r\n', '\n\n', '<->', 'é', Buffer.from([0, 255, 0])];

function randomContent(random, delimiter) {
  const parts = [];
  for (let lines = random(40); lines > 0; lines--) {
    const kind = random(6);
    if (kind === 0) parts.push(delimiter.subarray(0, random(delimiter.length)));
    parts.push(Buffer.alloc(random(kind === 1 ? 200 : 20), 'ab\u{1F600}'));
    if (kind !== 2) parts.push(delimiter);
  }
  return Buffer.concat(parts);
}

/** Parts of random length, some empty; always in the same buffer, as a source that reads by itself may do it. */
async function* parted(content, random, most) {
  const buffer = Buffer.alloc(most);
  for (let at = 0; at < content.length; ) {
    const length = content.copy(buffer, 0, at, at + random(most + 1));
    at += length;
    yield buffer.subarray(0, length);
    buffer.fill('!');
  }
}

test('random streams', async (t) => {
  for (const seed of seeds(150)) {
    await t.test(`seed ${seed}`, async () => {
      const random = randomNumbers(seed);
      const given = delimiters[random(delimiters.length)];
      const delimiter = Buffer.from(given);
      const content = randomContent(random, delimiter);
      const bytes = delimiter.length + random(40);
      const maxBytes = bytes + random(80);
      const source = parted(content, random, 1 + random(100));
      const pieces = await all(source, { bytes, maxBytes, delimiter: given });

      assert.ok(Buffer.concat(pieces.map(({ data }) => data)).equals(content), 'other bytes');
      for (const [index, { data, complete }] of pieces.entries()) {
        assert.ok(data.length > 0 && data.length <= maxBytes, `${data.length} bytes`);
        assert.equal(data.buffer.byteLength, data.length, 'bytes of others in the buffer');
        const isLast = index === pieces.length - 1;
        const ends = Buffer.from(data).subarray(-delimiter.length).equals(delimiter);
        if (!isLast) assert.equal(complete, ends);
        else assert.ok(complete);
        const isPart = !complete || pieces[index - 1]?.complete === false;
        const lines = Buffer.from(data.subarray(0, -delimiter.length)).includes(delimiter);
        // A delimiter that overlaps itself can be found in other ways.
        if ((isPart || data.length > bytes) && given !== '\n\n') assert.ok(!lines, 'not alone');
      }
      assert.deepEqual(texts(pieces), texts(expected(content, bytes, maxBytes, delimiter)));
    });
  }
});

test('as many whole lines as there is room for; a longer line alone; one that is too long in pieces', async () => {
  const lines = [
    'aa\n',
    'b\n',
    'c\n',
    'a line of 20 bytes.\n',
    'd\n',
    'longer than thirty bytes, and so in two\n',
    'e',
  ];
  const pieces = await all([Buffer.from(lines.join(''))], { bytes: 8, maxBytes: 30 });
  assert.deepEqual(texts(pieces), [
    'aa\nb\nc\n',
    'a line of 20 bytes.\n',
    'd\n',
    'longer than thirty bytes, and …',
    'so in two\n',
    'e',
  ]);
});

test('a line too long at the end of the source is complete in the end', async () => {
  const options = { bytes: 4, maxBytes: 8 };
  assert.deepEqual(texts(await all([Buffer.from('x'.repeat(8))], options)), ['xxxxxxxx']);
  assert.deepEqual(texts(await all([Buffer.from('x'.repeat(9))], options)), ['xxxxxxxx…', 'x']);
  assert.deepEqual(texts(await all([Buffer.from('xxxxxxxx\nab')], options)), [
    'xxxxxxxx…',
    '\n',
    'ab',
  ]);
});

test('no delimiter is torn', async () => {
  const source = () => [Buffer.from('abcdefg\r\nab\r\n')];
  const options = { bytes: 4, maxBytes: 8, delimiter: '\r\n' };
  assert.deepEqual(texts(await all(source(), options)), ['abcdefg…', '\r\n', 'ab\r\n']);
});

test('characters of several bytes stay whole in what is complete', async () => {
  const content = Buffer.from('äöü €\u{1F600}\r\n'.repeat(500));
  const pieces = await all(parted(content, randomNumbers(1), 50), { bytes: 64 });
  assert.ok(pieces.length > 100);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for (const { data, complete } of pieces) {
    assert.ok(complete);
    assert.match(decoder.decode(data), /\r\n$/);
  }
});

test('nothing gives nothing', async () => {
  assert.deepEqual(await all([]), []);
  assert.deepEqual(await all([Buffer.alloc(0)]), []);
  assert.deepEqual(await all(Readable.from([])), []);
});

test('a line of 100 MB: never more than a piece is read ahead, nor held', async () => {
  const mebi = 2 ** 20;
  const part = Buffer.alloc(64 * 1024, 'x');
  let given = 0;
  let received = 0;
  let most = 0;
  function* source() {
    while (given < 100 * mebi) {
      given += part.length;
      most = Math.max(most, given - received);
      yield part;
    }
    yield Buffer.from('\nnext\n');
  }
  const sizes = [];
  for await (const { data, complete } of lineChunks(source())) {
    received += data.length;
    sizes.push([data.length, complete]);
  }
  assert.deepEqual(sizes, [...Array(6).fill([16 * mebi, false]), [4 * mebi + 1, true], [5, true]]);
  assert.ok(most <= 16 * mebi + part.length, `${most}`);
});

test('pieces are as large by default: 1 MiB at most where lines are short', async () => {
  const content = Buffer.from('a line of text\n'.repeat(200_000));
  const pieces = await all(parted(content, randomNumbers(2), 100_000));
  const mebi = 2 ** 20;
  assert.deepEqual(
    pieces.map(({ data }) => data.length),
    [mebi - (mebi % 15), mebi - (mebi % 15), 3_000_000 - 2 * (mebi - (mebi % 15))],
  );
});

test('a piece can be transferred', async () => {
  const [{ data }] = await all([Buffer.from('some\nlines\n')]);
  const moved = structuredClone(data, { transfer: [data.buffer] });
  assert.equal(Buffer.from(moved).toString(), 'some\nlines\n');
  assert.equal(data.length, 0);
});

test('sources: a file, a web stream, an array', async () => {
  const path = join(folder, 'file');
  writeFileSync(path, 'one\ntwo\n'.repeat(20_000));
  for (const source of [
    createReadStream(path, { highWaterMark: 1000 }),
    Readable.toWeb(createReadStream(path)),
    [Buffer.from('one\ntwo\n'.repeat(20_000))],
  ]) {
    const pieces = await all(source, { bytes: 30_000 });
    assert.deepEqual(
      pieces.map(({ data }) => data.length),
      [30_000, 30_000, 30_000, 30_000, 30_000, 10_000],
    );
  }
});

test('the source is destroyed when the consumer breaks off', async () => {
  const path = join(folder, 'break');
  writeFileSync(path, 'x\n'.repeat(500_000));
  const source = createReadStream(path);
  const closed = new Promise((resolve) => source.once('close', resolve));
  for await (const { data } of lineChunks(source, { bytes: 1000 })) {
    assert.equal(data.length, 1000);
    break;
  }
  assert.ok(source.destroyed);
  await closed;
});

test('the source is destroyed when it gives something else than bytes', async () => {
  for (const wrong of ['text', { a: 1 }, 5, new ArrayBuffer(4)]) {
    const source = Readable.from([Buffer.from('a\n'), wrong]);
    await assert.rejects(all(source), {
      code: 'MILLRACE_E_INVALID_ARGUMENT',
      message: /Buffers or Uint8Arrays, without an encoding/,
    });
    assert.ok(source.destroyed);
  }
});

test('an error of the source is passed on, behind the pieces that were due', async () => {
  const missing = lineChunks(createReadStream(join(folder, 'missing')));
  await assert.rejects(missing.next(), { code: 'ENOENT' });
  const source = new PassThrough();
  const pieces = lineChunks(source, { bytes: 4 });
  source.write('abc\nabc\nab');
  assert.equal(Buffer.from((await pieces.next()).value.data).toString(), 'abc\n');
  assert.equal(Buffer.from((await pieces.next()).value.data).toString(), 'abc\n');
  const third = pieces.next();
  source.destroy(new Error('broken'));
  await assert.rejects(third, { message: 'broken' });
});

test('arguments and options that are refused, at once', () => {
  for (const [options, message] of [
    [{ bytes: 0 }, /'bytes' is 0/],
    [{ bytes: 1.5 }, /'bytes' is 1.5/],
    [{ bytes: 2, delimiter: 'abc' }, /'bytes' is 2; it must be an integer from 3/],
    [{ bytes: 100, maxBytes: 99 }, /'maxBytes' is 99; it must be an integer from 100/],
    [{ delimiter: new Uint8Array(0) }, /'delimiter'/],
    [{ maxbytes: 5 }, /is 'maxBytes' meant/],
  ]) {
    assert.throws(() => lineChunks([], options), { code: 'MILLRACE_E_INVALID_OPTION', message });
  }
  for (const source of [undefined, null, 5, {}]) {
    assert.throws(() => lineChunks(source), { code: 'MILLRACE_E_INVALID_ARGUMENT' });
  }
});
