/** Under auto a program that uses files can tell nothing but the time: the same program, in two processes. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { hasVirtualFiles, programs, run } from './run.js';

/** Runs the program in an empty folder, always of the same name; it prints a line for each case, and one at its end. */
async function look(folder, preload, ...args) {
  mkdirSync(folder);
  try {
    const { code, stderr, stdout } = await run([...preload, `${programs}files-same.mjs`, ...args], {
      cwd: folder,
    });
    assert.equal(stderr, '');
    assert.equal(code, 0);
    const lines = stdout.trimEnd().split('\n');
    return { end: JSON.parse(lines.pop()), cases: lines.map((line) => JSON.parse(line)) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The same number of modules, so that the frames of the loader are the same. */
const nothing = ['--import', 'data:text/javascript,'];
/** By its path, as the working folder is elsewhere. */
const withAuto = ['--import', new URL('../../dist/auto/index.js', import.meta.url).href];

/** After this files are gathered, if there is auto. */
const warm = `
  import { appendFile, readFile, writeFile } from 'node:fs/promises';
  import fs, { appendFileSync, readFileSync } from 'node:fs';
  const feature = process[Symbol.for('millrace.auto')]?.features.fs;
  do {
    await Promise.all([appendFile('/dev/null', ''), appendFile('/dev/null', '')]);
    await new Promise(setImmediate);
  } while (feature?.state === 'waiting' && feature.why === null);
`;
const endings = {
  'an unhandled rejection of a read': `async function load() { await readFile('none/file'); }
    load();`,
  'an unhandled rejection of an append': `async function save() { await appendFile('none/file', 'x'); }
    await Promise.all([save()]);`,
  'a wrong argument': `async function load() { await readFile({}); }
    // Which line of Node.js was at fault is lost, so the stack is all.
    process.on('uncaughtException', (error) => { console.log(error.stack); process.exitCode = 5; });
    load();`,
  'an uncaught exception in a turn of an append': `appendFile('log', 'x');
    throw new Error('on purpose');`,
  'an exception behind a read': `await writeFile('log', 'x');
    readFile('log').then(() => { throw new Error('on purpose'); });`,
  'an uncaught exception in a callback of a read': `await writeFile('log', 'x');
    fs.readFile('log', () => {
      setImmediate(() => console.log('never'));
      throw new Error('on purpose');
    });`,
  'an uncaught exception in a callback of a read that failed': `fs.readFile('none', (error) => { throw error; });`,
  'an error that was made before, thrown in a callback of a read': `await writeFile('log', 'x');
    const early = new Error('on purpose');
    fs.readFile('log', () => {
      throw early;
    });`,
  'no error, thrown in a callback of a read': `await writeFile('log', 'x');
    fs.readFile('log', () => {
      throw 'on purpose';
    });`,
  'no error, thrown in a tick of a callback of a read': `await writeFile('log', 'x');
    fs.readFile('log', () => process.nextTick(() => {
      throw 'on purpose';
    }));`,
  'no error, thrown in a tick behind a read': `await writeFile('log', 'x');
    await readFile('log');
    process.nextTick(() => {
      throw 'on purpose';
    });`,
  'no error, thrown in a callback of a read, and a handler': `process.on('uncaughtException', (error, origin) => {
      console.log(error, origin);
      process.exitCode = 6;
    });
    await writeFile('log', 'x');
    fs.readFile('log', () => { throw undefined; });`,
  'a promise that is rejected in a callback of a read that succeeded': `await writeFile('log', 'x');
    fs.readFile('log', () => { Promise.reject(new Error('on purpose')); });`,
  'a promise that is rejected in a callback of a read': `fs.readFile('none', (error) => { Promise.reject(error); });`,
  'the end, with callbacks under way': `for (let i = 0; i < 50; i++) fs.readFile('none', () => appendFileSync('log', 'x'));
    process.on('exit', () => console.log(readFileSync('log', 'utf8').length));`,
  'exit in a callback': `fs.readFile('none', () => { appendFileSync('log', 'x'); process.exit(9); });
    fs.readFile('none', () => { appendFileSync('log', 'x'); process.exit(9); });`,
  'exit right behind an append': `await appendFile('log', 'one');
    appendFile('log', 'two');
    process.exit(3);`,
  'exit behind an append that was waited for': `await Promise.all([appendFile('log', 'a'), appendFile('log', 'a')]);
    process.exit();`,
  'the end, with appends under way': `for (let i = 0; i < 500; i++) appendFile('log', 'line\\n');
    for (let i = 0; i < 500; i++) setImmediate(appendFile, 'log', 'line\\n');`,
  'the end, with reads under way': `await writeFile('log', 'x');
    for (let i = 0; i < 50; i++) readFile('log', 'utf8').then((text) => appendFile('log', text && 'x'));`,
  'more work before the end': `let left = 3;
    process.on('beforeExit', () => { if (left-- > 0) appendFile('log', 'again '); });`,
  'an append at the exit': `process.on('exit', () => { appendFileSync('log', 'sync'); appendFile('log', 'never'); });`,
  'a handler of a signal': `process.on('SIGTERM', async () => { await appendFile('log', 'bye'); process.exit(4); });
    setInterval(() => {}, 1000);
    process.kill(process.pid, 'SIGTERM');`,
  'the exit code of a failure that is handled': `process.exitCode = await readFile('none').catch((error) => -error.errno);`,
};

/** Without the frames of Node.js that began the turn: which they are depends on what else was due in it. */
const withoutTurn = (text) =>
  text.replace(
    /\n +at (?:FSReqCallback\.\w+|process\.processTicksAndRejections|runNextTicks|process\.process(?:Immediate|Timers)|listOn(?:Timeout|Immediate)) .*/g,
    '',
  );

describe('the end of a process looks the same', () => {
  for (const [title, code] of Object.entries(endings)) {
    test(title, async (t) => {
      const parent = mkdtempSync(join(tmpdir(), 'millrace-same-'));
      t.after(() => rmSync(parent, { recursive: true }));
      const seen = [];
      for (const preload of [nothing, withAuto]) {
        const folder = join(parent, 'folder');
        mkdirSync(folder);
        const source = `${warm}\n${code}`;
        const result = await run([...preload, '--input-type=module', '--eval', source], {
          cwd: folder,
        });
        const log = join(folder, 'log');
        const [stdout, stderr] = [result.stdout, result.stderr].map(withoutTurn);
        seen.push({
          ...result,
          stdout,
          stderr,
          log: existsSync(log) ? readFileSync(log, 'utf8') : '',
        });
        rmSync(folder, { recursive: true });
      }
      assert.deepEqual(seen[1], seen[0]);
    });
  }
});

for (const [title, args, state] of [
  ['files that are gathered', [], 'active'],
  ['files that are left to Node.js', ['idle'], null],
]) {
  describe(title, () => {
    let plain;
    let auto;
    before(async () => {
      const parent = mkdtempSync(join(tmpdir(), 'millrace-same-'));
      const folder = join(parent, 'folder');
      try {
        plain = await look(folder, nothing, ...args);
        auto = await look(folder, withAuto, ...args);
      } finally {
        rmSync(parent, { recursive: true });
      }
    });

    test('are the same cases in both', () => {
      assert.deepEqual(
        auto.cases.map(({ title }) => title),
        plain.cases.map(({ title }) => title),
      );
      assert.ok(plain.cases.length > 100, `${plain.cases.length} cases`);
      assert.equal(plain.end.state, 'none');
      if (state !== null && !hasVirtualFiles) assert.deepEqual(auto.end, { state, why: null });
    });

    test('look the same', () => {
      const differ = plain.cases.flatMap((each, i) => {
        try {
          assert.deepEqual(auto.cases[i], each);
          return [];
        } catch (error) {
          return [`${each.title}: ${error.message}`];
        }
      });
      assert.deepEqual(differ, []);
    });
  });
}
