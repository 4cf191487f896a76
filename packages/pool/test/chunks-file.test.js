/** fileChunks(): ranges of a file that together are the file. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { cpuShare } from '@millrace/base/limits/limits';
import { randomNumbers, seeds } from '../../base/test/random.js';
import { cut, fileChunks, reader } from '../dist/chunks.js';
import { defaultThreads } from '../dist/options.js';

const folder = mkdtempSync(join(tmpdir(), 'millrace-chunks-'));
after(() => rmSync(folder, { recursive: true }));

let files = 0;
function fileOf(content) {
  const path = join(folder, `file-${files++}`);
  writeFileSync(path, content);
  return path;
}

/** Checks what holds for all ranges, and returns the pieces. */
function piecesOf(content, chunks, delimiter) {
  let end = 0;
  const pieces = chunks.map((chunk) => {
    assert.equal(chunk.start, end, 'a gap');
    assert.ok(chunk.end > chunk.start, 'an empty chunk');
    end = chunk.end;
    return content.subarray(chunk.start, chunk.end);
  });
  assert.equal(end, content.length);
  for (const piece of pieces.slice(0, -1)) {
    assert.ok(piece.subarray(-delimiter.length).equals(delimiter), 'not behind a delimiter');
  }
  return pieces;
}

/** Where the cuts have to be: behind the first delimiter that ends at the even place or later. */
function expectedEnds(content, count, delimiter) {
  const ends = [];
  let start = 0;
  for (let index = 1; index < count; index++) {
    const even = Math.floor((content.length / count) * index);
    if (even <= start) continue;
    const at = content.indexOf(delimiter, Math.max(start, even - delimiter.length));
    if (at < 0 || at + delimiter.length === content.length) break;
    start = at + delimiter.length;
    ends.push(start);
  }
  return content.length === 0 ? [] : [...ends, content.length];
}

const delimiters = ['\n', '\r\n', '\n\n', '<->', 'é', Buffer.from([0, 255, 0])];

/** Mostly lines, long ones among them, and pieces of delimiters. */
function randomContent(random, delimiter) {
  const parts = [];
  for (let lines = random(40); lines > 0; lines--) {
    const kind = random(6);
    if (kind === 0) parts.push(delimiter.subarray(0, random(delimiter.length)));
    parts.push(Buffer.alloc(random(kind === 1 ? 300 : 20), 'ab\u{1F600}'));
    if (kind !== 2) parts.push(delimiter);
  }
  return Buffer.concat(parts);
}

test('random files', async (t) => {
  for (const seed of seeds(60)) {
    await t.test(`seed ${seed}`, async () => {
      const random = randomNumbers(seed);
      const given = delimiters[random(delimiters.length)];
      const delimiter = Buffer.from(given);
      const content = randomContent(random, delimiter);
      const [chunks, minBytes] = [1 + random(12), 1 + random(50)];
      const path = join(folder, 'random');
      writeFileSync(path, content);
      const ranges = await fileChunks(path, { chunks, minBytes, delimiter: given });
      piecesOf(content, ranges, delimiter);
      const count = Math.max(1, Math.min(chunks, Math.floor(content.length / minBytes)));
      const ends = expectedEnds(content, count, delimiter);
      assert.deepEqual(
        ranges.map(({ end }) => end),
        ends,
      );
    });
  }
});

test('random reads that end anywhere', async (t) => {
  for (const seed of seeds(30)) {
    await t.test(`seed ${seed}`, async () => {
      const random = randomNumbers(seed);
      const delimiter = Buffer.from(delimiters[random(delimiters.length)]);
      const content = randomContent(random, delimiter);
      const chunks = 1 + random(6);
      const read = async (buffer, at) =>
        content.copy(buffer, 0, at, at + 1 + random(Math.min(4, buffer.length)));
      const ranges = await cut(read, content.length, { chunks, minBytes: 1, delimiter });
      piecesOf(content, ranges, delimiter);
      const ends = expectedEnds(content, Math.min(chunks, content.length || 1), delimiter);
      assert.deepEqual(
        ranges.map(({ end }) => end),
        ends,
      );
    });
  }
});

test('a delimiter that lies across two windows', async () => {
  const delimiter = Buffer.from('<delimiter>');
  for (let shift = 0; shift < delimiter.length + 2; shift++) {
    const content = Buffer.alloc(300_000, 'x');
    // The search begins a delimiter before the middle, and goes on in steps of 64 KiB.
    const end = 150_000 - delimiter.length + 65_536 + shift;
    delimiter.copy(content, end - delimiter.length);
    const ranges = await fileChunks(fileOf(content), { chunks: 2, minBytes: 1, delimiter });
    assert.deepEqual(ranges, [
      { start: 0, end },
      { start: end, end: 300_000 },
    ]);
  }
});

/** Reads of a file that is not there: `fill` says what is in it. Counts what is read. */
function imagined(fill) {
  const counted = { bytes: 0, most: 0, read: null };
  counted.read = async (buffer, at) => {
    counted.bytes += buffer.length;
    counted.most = Math.max(counted.most, buffer.length);
    fill(buffer, at);
    return buffer.length;
  };
  return counted;
}
const large = 2 ** 30;
const newline = Buffer.from('\n');

test('only what is around the cuts is read', async () => {
  const counted = imagined((buffer, at) => {
    buffer.fill('x');
    for (let i = (100 - (at % 100)) % 100; i < buffer.length; i += 100) buffer[i] = 10;
  });
  const ranges = await cut(counted.read, large, { chunks: 8, minBytes: 1, delimiter: newline });
  assert.equal(ranges.length, 8);
  assert.ok(counted.bytes <= 7 * 64 * 1024, `${counted.bytes}`);
});

test('without a delimiter: one chunk, read from the first cut to the end once, a window at a time', async () => {
  const counted = imagined((buffer) => buffer.fill('x'));
  const size = 100 * 2 ** 20;
  const ranges = await cut(counted.read, size, { chunks: 64, minBytes: 1, delimiter: newline });
  assert.deepEqual(ranges, [{ start: 0, end: size }]);
  assert.ok(counted.bytes <= size, `${counted.bytes}`);
  assert.ok(counted.most <= 64 * 1024, `${counted.most}`);
});

test('a line of 100 MB is in one chunk, and is read once', async () => {
  const size = 110 * 2 ** 20;
  const lineEnd = 105 * 2 ** 20;
  const counted = imagined((buffer, at) => {
    buffer.fill('x');
    if (at < lineEnd && at + buffer.length >= lineEnd) buffer[lineEnd - 1 - at] = 10;
  });
  const ranges = await cut(counted.read, size, { chunks: 50, minBytes: 1, delimiter: newline });
  assert.deepEqual(ranges, [
    { start: 0, end: lineEnd },
    { start: lineEnd, end: size },
  ]);
  assert.ok(counted.bytes <= size, `${counted.bytes}`);
});

test('an empty file has no chunks', async () => {
  assert.deepEqual(await fileChunks(fileOf(''), { chunks: 4 }), []);
});

test('delimiters and nothing else, and more chunks than bytes', async () => {
  const ranges = await fileChunks(fileOf('\n\n\n'), { chunks: 100, minBytes: 1 });
  piecesOf(Buffer.from('\n\n\n'), ranges, newline);
  assert.equal(ranges.length, 3);
});

test('a delimiter that overlaps itself is not used twice', async () => {
  const options = { chunks: 5, minBytes: 1, delimiter: '\n\n' };
  assert.deepEqual(await fileChunks(fileOf('\n\n\n\n\n'), options), [
    { start: 0, end: 2 },
    { start: 2, end: 4 },
    { start: 4, end: 5 },
  ]);
});

test('CRLF, and characters of several bytes, stay whole', async () => {
  const content = Buffer.from('äöü €\u{1F600}\r\n'.repeat(500));
  const ranges = await fileChunks(fileOf(content), { chunks: 7, minBytes: 1 });
  const pieces = piecesOf(content, ranges, newline);
  assert.equal(pieces.length, 7);
  for (const piece of pieces)
    assert.match(new TextDecoder('utf-8', { fatal: true }).decode(piece), /\r\n$/);
});

test('binary content', async () => {
  const random = randomNumbers(7);
  const content = Buffer.from(Array.from({ length: 50_000 }, () => random(256)));
  const ranges = await fileChunks(fileOf(content), { chunks: 5, minBytes: 1 });
  assert.equal(piecesOf(content, ranges, newline).length, 5);
});

test('by default as many as a pool has threads, none below 64 KiB but the last', async () => {
  const content = Buffer.from('a line\n'.repeat(300_000));
  const ranges = await fileChunks(fileOf(content));
  assert.equal(ranges.length, Math.min(defaultThreads(cpuShare()).max, 32));
  assert.equal((await fileChunks(fileOf(content.subarray(0, 131_071)), { chunks: 9 })).length, 1);
  assert.equal((await fileChunks(fileOf(content.subarray(0, 131_072)), { chunks: 9 })).length, 2);
});

test('paths as Buffer and as URL', async () => {
  const path = fileOf('a\nb\n');
  const expected = [
    { start: 0, end: 2 },
    { start: 2, end: 4 },
  ];
  for (const each of [Buffer.from(path), pathToFileURL(path)]) {
    assert.deepEqual(await fileChunks(each, { chunks: 2, minBytes: 1 }), expected);
  }
});

test('a file that grows meanwhile keeps its chunks', async () => {
  const path = fileOf('one\ntwo\n');
  const handle = await open(path);
  try {
    appendFileSync(path, 'three\nfour\n');
    const ranges = await cut(reader(handle, path), 8, {
      chunks: 4,
      minBytes: 1,
      delimiter: newline,
    });
    assert.deepEqual(ranges, [
      { start: 0, end: 4 },
      { start: 4, end: 8 },
    ]);
  } finally {
    await handle.close();
  }
});

test('a delimiter in what has grown is none', async () => {
  const size = 150_000;
  const path = fileOf('x'.repeat(size));
  const handle = await open(path);
  try {
    appendFileSync(path, '\n');
    const given = { chunks: 2, minBytes: 1, delimiter: newline };
    assert.deepEqual(await cut(reader(handle, path), size, given), [{ start: 0, end: size }]);
  } finally {
    await handle.close();
  }
});

test('a file truncated meanwhile is refused', async () => {
  const path = fileOf('one\ntwo\n'.repeat(100));
  const handle = await open(path);
  try {
    truncateSync(path, 10);
    const ranges = cut(reader(handle, path), 800, { chunks: 4, minBytes: 1, delimiter: newline });
    await assert.rejects(ranges, { code: 'MILLRACE_E_INVALID_ARGUMENT', message: /truncated/ });
  } finally {
    await handle.close();
  }
});

test('rejects anything but a file: missing, a directory, a device', async () => {
  await assert.rejects(fileChunks(join(folder, 'missing')), { code: 'ENOENT', message: /missing/ });
  const directory = join(folder, 'directory');
  mkdirSync(directory);
  for (const path of [directory, '/dev/null']) {
    await assert.rejects(fileChunks(path), {
      code: 'MILLRACE_E_INVALID_ARGUMENT',
      message: /no regular file.*lineChunks/,
    });
  }
  await assert.rejects(fileChunks(5), { code: 'ERR_INVALID_ARG_TYPE' });
});

test('a FIFO is refused and not opened', async () => {
  const path = join(folder, 'fifo');
  assert.equal(spawnSync('mkfifo', [path]).status, 0);
  await assert.rejects(fileChunks(path), { code: 'MILLRACE_E_INVALID_ARGUMENT', message: /fifo/ });
});

/** Descriptors of this process that are of the file. */
const openOf = (path) =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === path;
    } catch {
      return false;
    }
  }).length;

test('the file is closed, also when reading fails (injected: EIO)', async () => {
  const path = fileOf('one\ntwo\n');
  const handle = await open(path);
  const { read } = Object.getPrototypeOf(handle);
  assert.equal(openOf(path), 1);
  await handle.close();
  await fileChunks(path, { chunks: 2, minBytes: 1 });
  assert.equal(openOf(path), 0);
  let opened = 0;
  Object.getPrototypeOf(handle).read = async () => {
    opened = openOf(path);
    throw Object.assign(new Error('i/o error'), { code: 'EIO' });
  };
  try {
    await assert.rejects(fileChunks(path, { chunks: 2, minBytes: 1 }), { code: 'EIO' });
  } finally {
    Object.getPrototypeOf(handle).read = read;
  }
  assert.equal(opened, 1);
  assert.equal(openOf(path), 0);
  assert.equal(readFileSync(path, 'utf8'), 'one\ntwo\n');
});

test('options that are refused', async () => {
  const path = fileOf('x');
  for (const [options, message] of [
    [{ chunks: 0 }, /'chunks' is 0/],
    [{ chunks: 1.5 }, /'chunks' is 1.5/],
    [{ chunks: '4' }, /'chunks'/],
    [{ minBytes: 0 }, /'minBytes' is 0/],
    [{ delimiter: '' }, /'delimiter' is ""/],
    [{ delimiter: 10 }, /'delimiter' is 10/],
    [{ delimiter: 'x'.repeat(1025) }, /1024 bytes/],
    [{ delimeter: '\n' }, /is 'delimiter' meant/],
    [null, /must be an object/],
  ]) {
    await assert.rejects(fileChunks(path, options), { code: 'MILLRACE_E_INVALID_OPTION', message });
  }
});
