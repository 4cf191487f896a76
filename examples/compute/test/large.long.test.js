/** A gigabyte, and lines of 100 MB, with what the server needs of memory meanwhile. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import { countsOf, request, startMain, upload } from './support.js';

const MB = 1024 * 1024;
/** Node itself, two threads, and the few pieces that are under way. */
const MOST_RSS = 450 * MB;
const PATIENCE_MS = 580_000;

test('a gigabyte of lines', { timeout: PATIENCE_MS }, (t) =>
  check(t, Buffer.alloc(MB, 'some words in a line of forty-odd bytes!\n'), 1024),
);
test('lines of 100 MB', { timeout: PATIENCE_MS }, (t) => {
  const line = Buffer.concat([Buffer.alloc(100 * MB - 1, 'long line '), Buffer.from('\n')]);
  return check(t, line, 3);
});

/** Uploads the same block again and again, and compares with what a serial run comes to. */
async function check(t, block, times) {
  const main = await startMain(t, ['--threads', '2']);
  const serial = { bytes: 0, lines: 0, words: 0, longestLine: 0, crc: 0 };
  let lineLength = 0;
  let wasSpace = true;
  async function* body() {
    for (let n = 0; n < times; n += 1) {
      serial.bytes += block.length;
      serial.crc = crc32(block, serial.crc);
      for (const byte of block) {
        const isSpace = byte === 32 || (byte >= 9 && byte <= 13);
        if (wasSpace && !isSpace) serial.words += 1;
        wasSpace = isSpace;
        lineLength += 1;
        if (byte !== 10) continue;
        serial.lines += 1;
        serial.longestLine = Math.max(serial.longestLine, lineLength - 1);
        lineLength = 0;
      }
      yield block;
    }
  }
  let mostRss = 0;
  let isOver = false;
  const watch = (async () => {
    while (!isOver) {
      const { body } = await request(main.url, '/health');
      mostRss = Math.max(mostRss, body.memory.process.rss);
    }
  })();
  const answer = await upload(main.url, body(), {}, AbortSignal.timeout(PATIENCE_MS));
  isOver = true;
  await watch;
  assert.equal(answer.status, 200);
  const { crc, ...counts } = serial;
  counts.longestLine = Math.max(counts.longestLine, lineLength);
  assert.deepEqual(countsOf(answer.body), { ...counts, crc32: crc.toString(16).padStart(8, '0') });
  t.diagnostic(`${answer.body.ms} ms, at most ${Math.round(mostRss / MB)} MB`);
  assert.ok(mostRss < MOST_RSS, `${mostRss} bytes`);
}
