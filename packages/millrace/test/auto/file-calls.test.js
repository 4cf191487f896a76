/** Calls on files that auto makes on the loop: a program can tell nothing but the time. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { preloads, programs, run, runJson } from './run.js';

const { FileCallsPart } = createRequire(import.meta.url)('../../dist/auto/file-calls.cjs');
const { binding } = await import('../../dist/native/load.js');
/** Node.js of an unknown release is left alone. */
const isUnknown = !/^function stat\([\s\S]*new FSReqCallback\(/.test(String(fs.stat));
const isElsewhere = process.platform !== 'linux' && 'only Linux can read without waiting';
const skip = isElsewhere || (isUnknown && 'this release of Node.js is not known');
/** Without the addon nothing is made on the loop. */
const natively = binding === null ? () => {} : (title, fn) => test(title, { skip }, fn);

function temporary(t) {
  const folder = fs.mkdtempSync(join(tmpdir(), 'millrace-calls-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  return folder;
}

/** A part that is on and has its addon, and a file. */
async function activePart(t) {
  const file = join(temporary(t), 'file');
  fs.writeFileSync(file, 'content');
  const part = new FileCallsPart();
  t.after(() => part.off());
  part.on();
  assert.equal(part.why, null);
  while (part.state === 'waiting') await promisify(fs.stat)(file);
  return { part, file };
}

/** Bytes of the longest read. */
const longest = 65_536;

/** Descriptors of our own. */
async function descriptors(file, count) {
  const fds = [];
  for (let i = 0; i < count; i++) fds.push(await promisify(fs.open)(file));
  return fds;
}

/** The number of these calls that end in the turn in which they are made, and so not by the pool. */
async function madeOnLoop(calls) {
  let count = 0;
  // In the phase of a turn in which Node.js tells what the pool has done: the next turn is the first in which it may tell of these.
  await promisify(fs.access)('/');
  const all = calls((each) => each.then(() => count++));
  await new Promise(setImmediate);
  // The jobs of the last answer come right behind it.
  await null;
  const made = count;
  await all;
  return made;
}

describe('a program that uses files', () => {
  const limited = async (preload, folder, seed) => {
    fs.mkdirSync(folder);
    const command = ['ulimit -n 200; exec "$0" "$@"', process.execPath, '--no-deprecation'];
    const { stdout, stderr } = await promisify(execFile)(
      'sh',
      ['-c', ...command, ...preload, `${programs}file-calls-same.mjs`, seed],
      {
        cwd: folder,
        env: { ...process.env, MILLRACE: '', UV_THREADPOOL_SIZE: '1' },
        maxBuffer: 2 ** 26,
      },
    );
    fs.rmSync(folder, { recursive: true });
    assert.equal(stderr, '');
    const lines = stdout.trimEnd().split('\n').map(JSON.parse);
    return { end: lines.pop(), cases: lines };
  };

  test('sees the same with auto', { skip }, async (t) => {
    // Another one for each release of Node.js: all of them run these tests.
    const seed = process.versions.node.replaceAll('.', '');
    const folder = join(temporary(t), 'folder');
    const plain = await limited(['--import', 'data:text/javascript,'], folder, seed);
    const ours = new URL('../../dist/auto/index.js', import.meta.url).href;
    const auto = await limited(['--import', ours], folder, seed);
    assert.equal(plain.end.state, 'none');
    if (binding !== null) assert.deepEqual(auto.end, { state: 'active', why: null });
    assert.ok(plain.cases.length > 200, `${plain.cases.length} cases`);
    assert.equal(auto.cases.length, plain.cases.length);
    for (const [i, each] of plain.cases.entries()) {
      assert.deepEqual(auto.cases[i], each, `${each.title}, seed ${seed}`);
    }
  });

  for (const [way, preload] of Object.entries(preloads)) {
    natively(`reads a small file without a thread, ${way}`, async (t) => {
      const env = { UV_THREADPOOL_SIZE: '1' };
      const args = [...preload, `${programs}file-calls-alone.mjs`, temporary(t)];
      const result = await runJson(args, { env });
      assert.deepEqual(result, { size: 7, chunks: ['content'], isClosed: true });
    });
  }
});

describe('a turn of the loop', () => {
  natively('makes a limited number of calls, and leaves the others to Node.js', async (t) => {
    const { file } = await activePart(t);
    const stat = promisify(fs.stat);
    for (let turn = 0; turn < 3; turn++) {
      const made = await madeOnLoop((count) =>
        Promise.all(Array.from({ length: 10_000 }, () => count(stat(file)))),
      );
      assert.equal(made, 256);
    }
  });

  natively('reads a limited number of bytes', async (t) => {
    const { file } = await activePart(t);
    const fds = await descriptors(file, 20);
    const made = await madeOnLoop((count) =>
      Promise.all(
        fds.map((fd) => count(promisify(fs.read)(fd, Buffer.alloc(longest), 0, longest, 0))),
      ),
    );
    // Charged with what they get.
    assert.equal(made, 20);
    for (const fd of fds) await promisify(fs.close)(fd);
  });

  natively('tries a limited number of bytes that are not there', async (t) => {
    const { file } = await activePart(t);
    const fds = await descriptors(file, 40);
    const { mock } = t.mock.method(binding, 'fileRead', () => -1);
    await Promise.all(
      fds.map((fd) => promisify(fs.read)(fd, Buffer.alloc(longest), 0, longest, 0)),
    );
    assert.equal(mock.callCount(), 16);
    for (const fd of fds) await promisify(fs.close)(fd);
  });

  natively('leaves long reads to Node.js', async (t) => {
    const { file } = await activePart(t);
    const { mock } = t.mock.method(binding, 'fileRead');
    for (const length of [longest, longest + 1]) {
      const [fd] = await descriptors(file, 1);
      await promisify(fs.read)(fd, Buffer.alloc(length), 0, length, 0);
      await promisify(fs.close)(fd);
    }
    assert.deepEqual(
      mock.calls.map(({ arguments: [, , , length] }) => length),
      [longest],
    );
  });
});

describe('files that cannot be answered', () => {
  natively('are asked for ever more rarely, until one is', async (t) => {
    const { file } = await activePart(t);
    const { mock } = t.mock.method(binding, 'fileLook');
    const none = () => promisify(fs.stat)('/none').catch(() => {});
    for (let i = 0; i < 16; i++) await none();
    assert.equal(mock.callCount(), 16);
    await Promise.all(Array.from({ length: 10_000 }, none));
    assert.equal(mock.callCount(), 25);
    while (mock.callCount() === 25) await promisify(fs.stat)(file);
    for (let i = 0; i < 16; i++) await none();
    assert.equal(mock.callCount(), 42);
  });

  natively('make nothing for the end of the turn', async (t) => {
    const { file } = await activePart(t);
    const immediates = () =>
      process.getActiveResourcesInfo().filter((type) => type === 'Immediate').length;
    const made = async (path) => {
      await promisify(fs.access)('/');
      const before = immediates();
      const ended = promisify(fs.stat)(path).catch(() => {});
      const count = immediates() - before;
      await ended;
      return count;
    };
    assert.equal(await made('/none'), 0);
    // Its answer, and the next turn.
    assert.equal(await made(file), 2);
  });
});

describe('what is left to Node.js', () => {
  const isOriginal = `/new FSReqCallback/.test(String(require('node:fs').open))`;

  test('all files where the addon has to be, and is not', { skip }, async (t) => {
    const code = `
      const fs = require('node:fs');
      const { fs: feature } = process[Symbol.for('millrace.auto')].features;
      const timer = setInterval(() => {
        fs.stat('.', () => {});
        if (feature.why === null) return;
        clearInterval(timer);
        console.log(JSON.stringify(feature.why));
      }, 1);
    `;
    const env = { MILLRACE_NATIVE: '1', MILLRACE_PREBUILD: temporary(t) };
    const why = await runJson([...preloads['--require'], '--eval', code], { env });
    assert.match(why, /^MILLRACE_NATIVE is 1, but there is no addon/);
  });

  test('functions that somebody has replaced before', { skip }, async (t) => {
    const { open } = fs;
    t.after(() => {
      fs.open = open;
    });
    const watched = (...args) => open(...args);
    fs.open = watched;
    const part = new FileCallsPart();
    part.on();
    assert.match(part.why, /^fs\.open was replaced before/);
    assert.equal(fs.open, watched);
    assert.match(String(fs.stat), /new FSReqCallback/);
  });

  natively('a binding of Node.js that a test has replaced', async () => {
    const result = await runJson([...preloads['--require'], `${programs}file-calls-replaced.cjs`]);
    const why = 'functions beneath node:fs were replaced, as test doubles of files do';
    const double = { why, isFile: false, read: 0, promised: 0, calledBack: 0 };
    assert.deepEqual(result, { unknown: double, other: double, why: null, isOnLoop: true });
  });

  test('worker threads, which know their descriptors', { skip }, async () => {
    const worker = `require('node:worker_threads').parentPort.postMessage(${isOriginal})`;
    const code = `
      const { Worker } = require('node:worker_threads');
      new Worker(${JSON.stringify(worker)}, { eval: true }).on('message', (is) => console.log([is, ${isOriginal}].join()));
    `;
    const { stdout } = await run([...preloads['--require'], '--eval', code]);
    assert.equal(stdout, 'true,false\n');
  });

  test('system calls on the loop of which Node.js is to warn', { skip }, async () => {
    const args = [...preloads['--require'], '--eval', `console.log(${isOriginal})`];
    const { stdout } = await run(['--trace-sync-io', ...args]);
    assert.equal(stdout, 'true\n');
    const byOptions = await run(args, { env: { NODE_OPTIONS: '--trace_sync_io' } });
    assert.equal(byOptions.stdout, 'true\n');
  });

  test('the permission model', { skip }, async () => {
    const known = process.allowedNodeEnvironmentFlags;
    const permission = known.has('--permission') ? '--permission' : '--experimental-permission';
    const args = ['--no-warnings', permission, '--allow-fs-read=*', ...preloads['--require']];
    const env = { MILLRACE_NATIVE: '' };
    assert.equal(await runJson([...args, '--eval', `console.log(${isOriginal})`], { env }), true);
  });
});

test('a program that only starts and ends does not load the addon', { skip }, async () => {
  const code = `
    const fs = require('node:fs');
    const stat = () => new Promise((resolve) => fs.stat('.', resolve));
    const wait = () => new Promise((resolve) => setTimeout(resolve, 200));
    (async () => {
      // Calls of the first 0.1 s do not count, and too few do not suffice. On a busy machine each may take long.
      while (performance.now() < 50) await stat();
      await wait();
      for (let i = 0; i < 20; i++) await stat();
      await wait();
      console.log(fs.readFileSync('/proc/self/maps', 'latin1').includes('millrace.node'));
    })();
  `;
  const { stdout } = await run([...preloads['--require'], '--eval', code]);
  assert.equal(stdout, 'false\n');
});

natively('off() puts back what was there, and descriptors go on', async (t) => {
  const names = ['stat', 'lstat', 'fstat', 'open', 'read', 'close'];
  const before = names.map((name) => fs[name]);
  const { part, file } = await activePart(t);
  const fd = await promisify(fs.open)(file);
  const { read: ours } = fs;
  part.off();
  assert.deepEqual(
    names.map((name) => fs[name]),
    before,
  );
  const { bytesRead } = await promisify(ours)(fd, Buffer.alloc(9), 0, 9, 0);
  assert.equal(bytesRead, 7);
  await promisify(fs.close)(fd);
});
