/** When files are read by millrace/fs, one alone included, and how many of them on the loop. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs, { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { hasVirtualFiles, programs, run, runJson } from './run.js';

const require = createRequire(import.meta.url);
const { FsPart } = require('../../dist/auto/fs.cjs');
const { nativeError } = await import('../../dist/native/load.js');
const { stats } = await import('millrace/fs');

const turn = () => new Promise(setImmediate);
const here = import.meta.filename ?? new URL(import.meta.url).pathname;
const skip = hasVirtualFiles;
/** Without the addon the loop reads nothing, so there is nothing to test. */
const testOnLoop = nativeError === null ? test : () => {};

/** A part that is on, and the function that lets the process settle. */
function partOf(t) {
  let settle;
  const part = new FsPart((fire) => {
    settle = fire;
    return () => {
      settle = null;
    };
  });
  part.on();
  t.after(() => part.off());
  return { part, settle: () => settle?.() };
}

async function active(part) {
  while (part.state === 'waiting' && part.why === null) await turn();
  assert.equal(part.why, null);
}

describe('millrace/fs is loaded', { skip }, () => {
  test('not for reads one after the other at the start', async (t) => {
    const { part } = partOf(t);
    for (let i = 0; i < 3; i++) {
      await promisify(fs.readFile)(here);
      await fs.promises.readFile(here);
      await turn();
    }
    assert.equal(part.state, 'waiting');
  });

  for (const [name, read] of Object.entries({
    'fs.readFile': () => promisify(fs.readFile)(here),
    'fs.promises.readFile': () => fs.promises.readFile(here),
    'fs.promises.appendFile': () => fs.promises.appendFile('/dev/null', ''),
  })) {
    test(`by the first ${name} once the process has settled`, async (t) => {
      const { part, settle } = partOf(t);
      settle();
      assert.equal(part.state, 'waiting');
      await read();
      await active(part);
    });
  }

  test('by two in one tick, whichever they are', async (t) => {
    const { part } = partOf(t);
    await Promise.all([promisify(fs.readFile)(here), fs.promises.readFile(here)]);
    await active(part);
  });

  test('not by what comes when it is off, and by the next when it is on again', async (t) => {
    const { part, settle } = partOf(t);
    part.off();
    settle();
    await Promise.all([fs.promises.readFile(here), fs.promises.readFile(here)]);
    await turn();
    assert.equal(part.state, 'waiting');
    part.on();
    settle();
    await promisify(fs.readFile)(here);
    await active(part);
  });
});

describe('once it is loaded', { skip }, () => {
  let folder;
  let files;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'millrace-alone-'));
    files = Array.from({ length: 400 }, (_, i) => join(folder, `${i}`));
    for (const file of files) writeFileSync(file, file);
  });
  after(() => rmSync(folder, { recursive: true }));

  async function loaded(t) {
    const { part, settle } = partOf(t);
    settle();
    await fs.promises.readFile(here);
    await active(part);
  }

  test('each read counts, by path or URL, and those of one tick are one batch', async (t) => {
    await loaded(t);
    const begun = stats();
    const read = promisify(fs.readFile);
    await turn();
    const all = await Promise.all([
      read(files[0], 'utf8'),
      fs.promises.readFile(files[0], { encoding: 'utf8' }),
      read(pathToFileURL(files[0]), 'utf8'),
      fs.promises.readFile(pathToFileURL(files[0]), 'utf8'),
    ]);
    assert.deepEqual(all, Array(4).fill(files[0]));
    const { reads, readBatches } = stats();
    // Without the addon those with callbacks are left to Node.js; in Node.js 20, whose loader reads by URLs, URLs are.
    const kinds = (nativeError === null ? 2 : 1) * (/^v20\./.test(process.version) ? 1 : 2);
    assert.equal(reads - begun.reads, kinds);
    assert.equal(readBatches - begun.readBatches, 1);
  });

  test('calls that it does not handle go to Node.js', async (t) => {
    await loaded(t);
    const begun = stats().reads;
    const read = promisify(fs.readFile);
    const { signal } = new AbortController();
    for (const options of [{ flag: 'r+' }, { signal }, { encoding: 'utf8', other: 1 }]) {
      assert.equal(String(await read(files[0], options)), files[0]);
    }
    const fd = fs.openSync(files[0]);
    assert.equal(await read(fd, 'utf8'), files[0]);
    fs.closeSync(fd);
    assert.equal(stats().reads, begun);
  });

  testOnLoop('callbacks come in the order of the calls', async (t) => {
    await loaded(t);
    for (const file of files.slice(0, 8)) readFileSync(file);
    const { onLoop } = stats();
    const seen = [];
    await turn();
    await new Promise((resolve) => {
      for (const file of files.slice(0, 8)) {
        fs.readFile(file, 'utf8', (error, text) => {
          assert.ifError(error);
          if (seen.push(text) === 8) resolve();
        });
      }
    });
    if (stats().onLoop - onLoop < 8) return t.skip('this file system cannot be read on the loop');
    assert.deepEqual(seen, files.slice(0, 8));
  });

  test('no turn reads more on the loop than its budget', async (t) => {
    await loaded(t);
    let most = 0;
    let left = files.length;
    let before = stats().onLoop;
    await turn();
    const all = Promise.all(
      files.map(async (file) => {
        const text = await promisify(fs.readFile)(file, 'utf8');
        left -= 1;
        assert.equal(text, file);
      }),
    );
    while (left > 0) {
      // From one end of a turn to the next: what its callbacks asked for, and what waited for its end.
      await turn();
      const { onLoop } = stats();
      most = Math.max(most, onLoop - before);
      before = onLoop;
    }
    await all;
    assert.ok(most <= 32, `${most} files in one turn`);
  });

  testOnLoop('no turn calls back for more than are under way', async (t) => {
    await loaded(t);
    let called = 0;
    let most = 0;
    await turn();
    for (let i = 0; i < 10_000; i++) {
      fs.readFile(files[i % files.length], (error) => {
        assert.ifError(error);
        called++;
      });
    }
    await turn();
    // The threads go on meanwhile, with all that they have.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    for (let before = called; called < 10_000; before = called) {
      await turn();
      most = Math.max(most, called - before);
    }
    // Some are read on the loop at the end of the turn that has called back for others.
    assert.ok(most <= 512 + 32, `${most} in one turn`);
  });

  test('a file of more than 64 KiB is left to Node.js', async (t) => {
    await loaded(t);
    const large = join(folder, 'large');
    writeFileSync(large, Buffer.alloc(64 * 1024 + 1, 'large'));
    await turn();
    const { onLoop, jobs } = stats();
    assert.deepEqual(await promisify(fs.readFile)(large), readFileSync(large));
    assert.deepEqual(await fs.promises.readFile(large), readFileSync(large));
    assert.equal(stats().onLoop, onLoop);
    // Unless this file system cannot be read on the loop, so that nobody looked how large it is.
    if (onLoop > 0) assert.equal(stats().jobs, jobs);
  });

  testOnLoop('a file that was too large is not tried again at once', async (t) => {
    await loaded(t);
    const large = join(folder, 'too large');
    const read = promisify(fs.readFile);
    writeFileSync(large, 'small');
    const { onLoop } = stats();
    await read(large);
    if (stats().onLoop === onLoop) return t.skip('this file system cannot be read on the loop');
    writeFileSync(large, Buffer.alloc(64 * 1024 + 1, 'large'));
    assert.deepEqual(await read(large), readFileSync(large));
    const { reads } = stats();
    for (let i = 0; i < 32; i++) {
      assert.deepEqual(await read(large), readFileSync(large));
      assert.deepEqual(await fs.promises.readFile(large), readFileSync(large));
    }
    assert.equal(stats().reads, reads);
    writeFileSync(large, 'small');
    assert.equal(await read(large, 'utf8'), 'small');
    assert.equal(stats().reads, reads + 1);
  });

  test('a worker that ends with callbacks due', async () => {
    const { Worker } = await import('node:worker_threads');
    const code = `
      const fs = require('node:fs');
      const { FsPart } = require(${JSON.stringify(require.resolve('../../dist/auto/fs.cjs'))});
      const part = new FsPart((fire) => { fire(); return () => {}; });
      part.on();
      const file = ${JSON.stringify(here)};
      (async () => {
        await fs.promises.readFile(file);
        while (part.state === 'waiting') await new Promise(setImmediate);
        for (let i = 0; i < 20; i++) fs.readFile(file, () => { if (i === 3) process.exit(7); });
      })();
    `;
    for (let i = 0; i < 3; i++) {
      const [exitCode] = await once(new Worker(code, { eval: true }), 'exit');
      assert.equal(exitCode, 7);
    }
  });
});

test('without descriptors the error is the same', {
  skip: skip || process.platform === 'win32',
}, async () => {
  const seen = [];
  for (const preload of [[], ['--require', 'millrace/auto']]) {
    const args = [process.execPath, ...preload, `${programs}no-descriptors.cjs`];
    const command = ['-c', 'ulimit -n 80; exec "$@"', 'sh', ...args];
    const start = `const { status } = require('node:child_process').spawnSync('sh', ${JSON.stringify(command)}, { stdio: 'inherit' });
      process.exitCode = status;`;
    // A monitor that starts meanwhile closes files, and there would be a descriptor again.
    const env = { MILLRACE: 'no-monitor' };
    const { stdout, stderr, code } = await run(['--eval', start], { env });
    assert.equal(stderr, '');
    assert.equal(code, 0);
    const lines = stdout.trimEnd().split('\n');
    seen.push(JSON.parse(lines.at(-1)));
  }
  assert.equal(seen[0].errors[0].code, 'EMFILE');
  assert.deepEqual(seen[1], seen[0]);
});

test('files that were handed over are not kept while callbacks ask for more', {
  skip,
}, async (t) => {
  const cwd = mkdtempSync(join(tmpdir(), 'millrace-chains-'));
  t.after(() => rmSync(cwd, { recursive: true }));
  const program = ['--expose-gc', '--import', import.meta.resolve('millrace/auto')];
  const kept = await runJson([...program, `${programs}files-chains.mjs`], { cwd });
  assert.ok(kept < 3000, `${kept} files`);
});
