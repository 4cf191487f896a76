/** Tests of rings need the addon and a compiler; without the addon there is nothing to test but that it is missed. */
import assert from 'node:assert/strict';
import { test as nodeTest } from 'node:test';
import { build, load, unable } from './build.js';

const inJavaScript = process.env.MILLRACE_NATIVE === '0';
const ready = !inJavaScript && unable === null;

/** As node:test has it; skipped where nothing can be built, and absent where millrace is to run in JavaScript alone. */
export function test(name, run) {
  if (inJavaScript) return;
  if (ready) nodeTest(name, run);
  else if (process.env.CI !== 'true') nodeTest(name, { skip: unable }, () => {});
  else nodeTest(name, () => assert.fail(`${unable}, and CI=true allows no skips`));
}

/** The path of the addon of addon.c. */
export const path = ready ? build('addon.c') : undefined;

/** The addon of addon.c. */
export const addon = ready ? load(path) : undefined;

export const codes = { full: -1, closed: -2, invalid: -3 };
export const recordSize = 16;

/** Opens a ring; `done` resolves when it has closed. */
export function open(
  api,
  callback,
  { size = recordSize, capacity = 0, maxBatch = 0, reserved = 0, joinsLate } = {},
) {
  const { promise, resolve } = deferred();
  const ring = addon.open(api, callback, size, capacity, maxBatch, reserved, resolve, joinsLate);
  return { ring, closed: promise };
}

export function deferred() {
  let resolve;
  const promise = new Promise((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** A record as a thread of addon.c makes it. */
export function record(number) {
  const bytes = new Uint8Array(recordSize);
  new Uint32Array(bytes.buffer)[1] = number;
  new Float64Array(bytes.buffer)[1] = number / 2;
  return bytes;
}

export function records(first, count) {
  const bytes = new Uint8Array(recordSize * count);
  for (let i = 0; i < count; i++) bytes.set(record(first + i), i * recordSize);
  return bytes;
}

/** Takes the batches of a ring and checks each record. */
export class Receiver {
  total = 0;
  batches = [];
  buffers = new Set();
  #next = [];
  #wanted = Infinity;
  #arrived = deferred();

  /** The callback of the ring. */
  take = (buffer, first, count) => {
    this.buffers.add(buffer);
    this.batches.push([first, count]);
    assert.ok(count >= 1 && (first + count) * recordSize <= buffer.byteLength);
    const whole = new Uint32Array(buffer);
    const real = new Float64Array(buffer);
    for (let i = first; i < first + count; i++) {
      const [thread, number] = [whole[4 * i], whole[4 * i + 1]];
      assert.equal(number, this.#next[thread] ?? 0, `of thread ${thread}`);
      assert.equal(real[2 * i + 1], number / 2 + thread);
      this.#next[thread] = number + 1;
    }
    this.total += count;
    if (this.total >= this.#wanted) this.#arrived.resolve();
  };

  /** Resolves when so many records have come. */
  until(wanted) {
    this.#wanted = wanted;
    this.#arrived = deferred();
    if (this.total >= wanted) this.#arrived.resolve();
    return this.#arrived.promise;
  }
}

/** Waits for so many turns of the loop. */
export async function turns(count) {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
}
