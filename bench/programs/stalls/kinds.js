/**
 * Kinds of stalls, each in a function of its own name. What it takes is fixed where the work is one call, and a second and a half where it is
 * a loop. A kind prepares its data when it is made, before anything is watched, and returns the function that blocks.
 */
import assert from 'node:assert';
import { execSync, spawn } from 'node:child_process';
import { pbkdf2Sync, randomFillSync, scryptSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

/** Length of a loop in ms. */
const loopMs = 1500;
const parsedBytes = 100e6;
const megabyte = 1 << 20;

/** Objects of some fields, as responses of a service have them. */
const records = (count) =>
  Array.from({ length: count }, (_, n) => ({
    id: n,
    name: `record ${n}`,
    tags: ['a', 'b'],
    n: n / 7,
  }));

/** A module with a function that counts down, in place of a program of some other language. */
const wasm = Uint8Array.from([
  ...[
    0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 1, 126, 0, 3, 2, 1, 0, 7, 8, 1, 4, 115, 112, 105, 110,
    0, 0,
  ],
  // loop: local.get 0, i64.const 1, i64.sub, local.tee 0, i64.eqz, i32.eqz, br_if 0
  ...[10, 18, 1, 16, 0, 3, 64, 32, 0, 66, 1, 125, 34, 0, 80, 69, 13, 0, 11, 11],
]);

/** @type {Record<string, { what: string, make: () => () => unknown }>} what: the title; make: prepares a function that blocks */
export const kinds = {
  loop: {
    what: 'a loop of calls',
    make: () =>
      function loop() {
        for (const end = performance.now() + loopMs; performance.now() < end; );
      },
  },
  arithmetic: {
    what: 'a loop without calls',
    make: () =>
      function arithmetic() {
        let sum = 0;
        for (let n = 0; n < 5e8; n++) sum = (sum + n) | 0;
        return sum;
      },
  },
  expression: {
    what: 'a regular expression that backtracks',
    make: () => {
      const text = `${'a'.repeat(23)}b`;
      return function expression() {
        return /^(a+)+$/.test(text);
      };
    },
  },
  parse: {
    what: '`JSON.parse` of 100 MB',
    make: () => {
      const one = JSON.stringify(records(1000));
      const text = `[${Array(Math.ceil(parsedBytes / one.length))
        .fill(one)
        .join(',')}]`;
      return function parse() {
        return JSON.parse(text).length;
      };
    },
  },
  stringify: {
    what: '`JSON.stringify` of 400,000 objects',
    make: () => {
      const all = records(400_000);
      return function stringify() {
        return JSON.stringify(all).length;
      };
    },
  },
  parseMany: {
    what: 'many small `JSON.parse`',
    make: () => {
      const text = JSON.stringify(records(10));
      return function parseMany() {
        for (const end = performance.now() + loopMs; performance.now() < end; ) JSON.parse(text);
      };
    },
  },
  sort: {
    what: '`sort` with a comparator',
    make: () => {
      const numbers = Array.from({ length: 600_000 }, (_, n) => (n * 7919) % 600_011);
      return function sort() {
        return numbers.toSorted((a, b) => a - b).length;
      };
    },
  },
  pbkdf2: {
    what: '`pbkdf2Sync`',
    make: () =>
      function pbkdf2() {
        return pbkdf2Sync('a password', 'salt', 500_000, 64, 'sha256');
      },
  },
  scrypt: {
    what: '`scryptSync`',
    make: () => {
      const options = { N: 2 ** 16, r: 8, p: 1, maxmem: 2 ** 29 };
      return function scrypt() {
        return scryptSync('a password', 'salt', 64, options);
      };
    },
  },
  gzip: {
    what: '`gzipSync` of 12 MB',
    make: () => {
      const data = randomFillSync(Buffer.alloc(12 * megabyte));
      return function gzip() {
        return gzipSync(data).length;
      };
    },
  },
  brotli: {
    what: '`brotliCompressSync`',
    make: () => {
      const data = Buffer.from(JSON.stringify(records(4000)));
      return function brotli() {
        return brotliCompressSync(data).length;
      };
    },
  },
  readFile: {
    what: '`readFileSync` of a slow file',
    make: () => {
      const folder = mkdtempSync(join(tmpdir(), 'millrace-stalls-'));
      process.on('exit', () => rmSync(folder, { recursive: true }));
      const path = join(folder, 'slow');
      execSync(`mkfifo ${path}`);
      return function readFile() {
        spawn('sh', ['-c', `exec 3> ${path}; sleep 2; echo data >&3`]);
        return readFileSync(path);
      };
    },
  },
  command: {
    what: '`execSync`',
    make: () =>
      function command() {
        return execSync('sleep 2');
      },
  },
  wait: {
    what: '`Atomics.wait`',
    make: () => {
      const word = new Int32Array(new SharedArrayBuffer(4));
      return function wait() {
        return Atomics.wait(word, 0, 0, loopMs);
      };
    },
  },
  promises: {
    what: 'a loop of `await`',
    make: () =>
      async function promises() {
        for (const end = performance.now() + loopMs; performance.now() < end; ) await null;
      },
  },
  ticks: {
    what: 'a loop of `process.nextTick`',
    make: () => {
      let end = 0;
      return function ticks() {
        end ||= performance.now() + loopMs;
        if (performance.now() >= end) end = 0;
        else process.nextTick(ticks);
      };
    },
  },
  microtasks: {
    what: 'a loop of `queueMicrotask`',
    make: () => {
      let end = 0;
      return function microtasks() {
        end ||= performance.now() + loopMs;
        if (performance.now() >= end) end = 0;
        else queueMicrotask(microtasks);
      };
    },
  },
  garbage: {
    what: 'garbage collection',
    make: () => {
      const kept = [];
      return function garbage() {
        const end = performance.now() + loopMs;
        for (let n = 0; performance.now() < end; n++) kept[n % 300_000] = { n, before: { n } };
      };
    },
  },
  clone: {
    what: '`structuredClone` of 120,000 objects',
    make: () => {
      const all = records(120_000);
      return function clone() {
        return structuredClone(all).length;
      };
    },
  },
  addon: {
    what: 'an addon: a query of SQLite',
    make: () => {
      const Database = createRequire(import.meta.url)('libsql');
      const text =
        'with recursive t(n) as (select 1 union all select n + 1 from t where n < 1500000) select max(n) from t';
      const statement = new Database(':memory:').prepare(text);
      return function addon() {
        return statement.get();
      };
    },
  },
  wasm: {
    what: 'WebAssembly',
    make: () => {
      const { spin } = new WebAssembly.Instance(new WebAssembly.Module(wasm)).exports;
      return function webAssembly() {
        return spin(500_000_000n);
      };
    },
  },
  equal: {
    what: '`assert.deepStrictEqual`',
    make: () => {
      const [a, b] = [records(150_000), records(150_000)];
      return function equal() {
        assert.deepStrictEqual(a, b);
      };
    },
  },
  spread: {
    what: 'an array that is copied to add to it',
    make: () =>
      function spread() {
        let all = [];
        for (let n = 0; n < 14_000; n++) all = [...all, n];
        return all.length;
      },
  },
  strings: {
    what: '`replaceAll` of 20 MB',
    make: () => {
      const text = 'a small word. '.repeat(1_400_000);
      return function strings() {
        return text.replaceAll('word', 'world').length;
      };
    },
  },
};
