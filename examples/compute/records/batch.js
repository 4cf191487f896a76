import { crc32 } from 'node:zlib';
import { joinCrc32 } from '../text/crc32.js';
import { makeRecord } from './record.js';

/** Records that are text at the same time while they are summed up, which bounds the memory. */
const AT_ONCE = 1000;

/** Of no records. */
export const NONE = { records: 0, bytes: 0, cents: 0, crc32: 0 };

/** Records from `from` up to, but not including, `to`, one JSON object a line. @returns {Buffer} with memory of its own, so that it can be transferred */
export function writeRecords(from, to, stop) {
  const pieces = [];
  let bytes = 0;
  for (const { text } of batches(from, to, stop)) {
    pieces.push(text);
    bytes += text.length;
  }
  const all = Buffer.allocUnsafeSlow(bytes);
  let at = 0;
  for (const piece of pieces) at += piece.copy(all, at);
  return all;
}

/** Summarizes records without keeping them: how many there were, the sum of their amounts, and length and CRC-32 of their text. */
export function summarizeRecords(from, to, stop) {
  let summary = NONE;
  for (const { text, records, cents } of batches(from, to, stop)) {
    summary = joinSummaries(summary, { records, cents, bytes: text.length, crc32: crc32(text) });
  }
  return summary;
}

/** Of records and those that follow. */
export function joinSummaries(a, b) {
  return {
    records: a.records + b.records,
    bytes: a.bytes + b.bytes,
    cents: a.cents + b.cents,
    crc32: joinCrc32(a.crc32, b.crc32, b.bytes),
  };
}

function* batches(from, to, stop = () => {}) {
  for (let start = from; start < to; start += AT_ONCE) {
    stop();
    const end = Math.min(to, start + AT_ONCE);
    let text = '';
    let cents = 0;
    for (let id = start; id < end; id += 1) {
      const record = makeRecord(id);
      cents += record.cents;
      text += `${JSON.stringify(record)}\n`;
    }
    yield { text: Buffer.from(text), records: end - start, cents };
  }
}

/** Ranges of at most `size` that together are all of `count`. */
export function* ranges(count, size) {
  for (let from = 0; from < count; from += size) {
    yield { from, to: Math.min(count, from + size) };
  }
}
