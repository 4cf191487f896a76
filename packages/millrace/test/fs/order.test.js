/** Calls on one path: whoever comes after a write sees it. */
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { execFile } from 'node:child_process';
import { linkSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { appendFile, readFile, stats, writeFile } from 'millrace/fs';
import { chainAt } from '../../dist/fs/order.js';
import { folder } from './folder.js';

const big = 3_000_000;

test('reads and writes of one tick, in the order of the calls', async (t) => {
  const file = `${folder(t)}/file`;
  const [, first, , second, , , third, again] = await Promise.all([
    writeFile(file, 'one'),
    readFile(file, 'utf8'),
    appendFile(file, ' two'),
    readFile(file, 'utf8'),
    appendFile(file, ' three'),
    writeFile(file, 'four', { flag: 'a' }),
    readFile(file, 'utf8'),
    readFile(file, { encoding: 'utf8', flag: 'rs' }),
    writeFile(file, 'five'),
  ]);
  assert.deepEqual([first, second], ['one', 'one two']);
  assert.deepEqual([third, again], ['one two threefour', 'one two threefour']);
  assert.equal(readFileSync(file, 'utf8'), 'five');
});

test('a read does not overtake a write that waits for other reads', async (t) => {
  const file = `${folder(t)}/file`;
  const first = writeFile(file, 'first');
  const before = readFile(file, 'utf8');
  const second = writeFile(file, 'second');
  await first;
  const after = readFile(file, 'utf8');
  assert.deepEqual(await Promise.all([before, second, after]), ['first', undefined, 'second']);
});

test('reads that wait for the same write are read together', async (t) => {
  const file = `${folder(t)}/file`;
  const { readBatches } = stats();
  const writing = writeFile(file, 'written');
  const texts = await Promise.all(Array.from({ length: 10 }, () => readFile(file, 'utf8')));
  assert.deepEqual(texts, Array(10).fill('written'));
  assert.equal(stats().readBatches, readBatches + 1);
  await writing;
});

test('a read with a flag that writes is waited for, as a write', async (t) => {
  const file = `${folder(t)}/file`;
  for (const flag of ['w+', 'a+', 'r+']) {
    await writeFile(file, 'content');
    const reading = readFile(file, { flag });
    assert.notEqual(chainAt(file), undefined);
    await Promise.all([reading, appendFile(file, ' more')]);
    const expected = flag === 'w+' ? ' more' : 'content more';
    assert.equal(readFileSync(file, 'utf8'), expected);
  }
  const reading = readFile(file, { flag: 'r', encoding: 'UTF8' });
  assert.equal(chainAt(file), undefined);
  await reading;
});

test('nothing is kept of a path when its calls are over', async (t) => {
  const file = `${folder(t)}/file`;
  const outcomes = [
    writeFile(file, 'x'),
    appendFile(file, 'x'),
    readFile(file),
    writeFile(`${file}/none`, 'x'),
    appendFile(`${file}/none`, 'x'),
  ];
  assert.notEqual(chainAt(file), undefined);
  await Promise.allSettled(outcomes);
  assert.equal(chainAt(file), undefined);
  assert.equal(chainAt(`${file}/none`), undefined);
});

test('a read while a large write is under way sees all of it', async (t) => {
  const file = `${folder(t)}/file`;
  for (let round = 0; round < 20; round++) {
    const writing = writeFile(file, Buffer.alloc(big, round));
    await new Promise(setImmediate);
    const data = await readFile(file);
    assert.ok(data.equals(Buffer.alloc(big, round)), `round ${round}: ${data.length} bytes`);
    await writing;
  }
});

test('a hundred writes of one tick: the last one stays', async (t) => {
  const file = `${folder(t)}/file`;
  const texts = Array.from({ length: 100 }, (_, index) =>
    `${index} `.repeat(1 + (index % 7) * 5000),
  );
  const seen = texts.map((text) => {
    writeFile(file, text);
    return readFile(file, 'utf8');
  });
  assert.deepEqual(await Promise.all(seen), texts);
});

test('names of one file: relative, not normalized, a Buffer, a URL', async (t) => {
  const path = folder(t);
  const file = `${path}/größe`;
  const names = [
    file,
    relative('.', file),
    `${path}/./größe`,
    Buffer.from(file),
    pathToFileURL(file),
  ];
  for (const name of names) {
    for (const other of names) {
      const writing = writeFile(name, Buffer.alloc(big, 'a'));
      const appending = appendFile(other, 'end');
      const data = await readFile(name, 'latin1');
      assert.equal(data.length, big + 3);
      assert.ok(data.endsWith('aend'));
      await Promise.all([writing, appending]);
    }
  }
});

test('large, iterable and plain appends keep their order', async (t) => {
  const file = `${folder(t)}/file`;
  const parts = [];
  const add = (part, data = part) => {
    parts.push(part);
    return appendFile(file, data);
  };
  const all = [];
  for (let round = 0; round < 10; round++) {
    all.push(add(`<${round}>`));
    all.push(add('x'.repeat(600_000)));
    all.push(add('abc', ['a', 'b', 'c']));
    all.push(add(`</${round}>`, Buffer.from(`</${round}>`)));
  }
  await Promise.all(all);
  assert.ok(readFileSync(file, 'latin1') === parts.join(''));
});

test('a failed write does not hold up what comes after it', async (t) => {
  const path = folder(t);
  const file = `${path}/new/file`;
  const outcomes = await Promise.allSettled([
    writeFile(file, 'one'),
    appendFile(file, 'two'),
    readFile(file),
    writeFile(path, 'no file'),
    readFile(path),
  ]);
  assert.deepEqual(
    outcomes.map(({ reason }) => reason.code),
    ['ENOENT', 'ENOENT', 'ENOENT', 'EISDIR', 'EISDIR'],
  );
  mkdirSync(`${path}/new`);
  const again = await Promise.all([
    writeFile(file, 'one'),
    appendFile(file, ' two'),
    readFile(file),
  ]);
  assert.equal(String(again[2]), 'one two');
});

test('a file whose write takes long delays no other', async (t) => {
  const path = folder(t);
  let finish;
  const forever = new Promise((resolve) => {
    finish = resolve;
  });
  const order = [];
  async function* data() {
    yield 'begin ';
    await forever;
    yield 'end';
  }
  const slow = writeFile(`${path}/slow`, data()).then(() => order.push('written'));
  const late = readFile(`${path}/slow`, 'utf8').then((text) => order.push(text));
  await writeFile(`${path}/quick`, 'quick');
  await appendFile(`${path}/quick`, 'ly');
  order.push(await readFile(`${path}/quick`, 'utf8'));
  finish();
  await Promise.all([slow, late]);
  assert.deepEqual(order, ['quickly', 'written', 'begin end']);
});

test('two links to one file are two files', async (t) => {
  const path = folder(t);
  writeFileSync(`${path}/one`, '');
  linkSync(`${path}/one`, `${path}/two`);
  // Each keeps its own order; nothing is lost, because both append.
  await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      appendFile(`${path}/${index % 2 ? 'one' : 'two'}`, `${index},`),
    ),
  );
  const numbers = readFileSync(`${path}/one`, 'utf8').split(',').slice(0, -1).map(Number);
  assert.deepEqual(
    numbers.filter((n) => n % 2),
    Array.from({ length: 50 }, (_, n) => 2 * n + 1),
  );
  assert.deepEqual(
    numbers.filter((n) => n % 2 === 0),
    Array.from({ length: 50 }, (_, n) => 2 * n),
  );
});

test('the arguments of a waiting call are read when it is made', async (t) => {
  const file = `${folder(t)}/file`;
  const options = { encoding: 'hex', mode: 0o600 };
  const url = pathToFileURL(file);
  const path = Buffer.from(file);
  const all = [
    writeFile(file, 'a'),
    writeFile(url, '6262', options),
    writeFile(path, '63', Object.assign(options, { flag: 'a' })),
  ];
  Object.assign(options, { encoding: 'klingon', flag: 'q' });
  url.pathname = '/nowhere/file';
  path.fill('x');
  await Promise.all(all);
  assert.equal(readFileSync(file, 'utf8'), 'bbc');
});

test('frozen options, for a call that waits', async (t) => {
  const file = `${folder(t)}/file`;
  const options = Object.freeze({ flag: 'a', encoding: 'utf8', flush: false, durable: true });
  await Promise.all([
    writeFile(file, 'a'),
    writeFile(file, 'b', options),
    appendFile(file, ['c'], options),
  ]);
  assert.equal(readFileSync(file, 'utf8'), 'abc');
});

test('an iterable that waits runs in the context of its call', async (t) => {
  const file = `${folder(t)}/file`;
  const storage = new AsyncLocalStorage();
  async function* data() {
    yield `${storage.getStore()} `;
  }
  await Promise.all(
    ['first', 'second', 'third'].map((name) =>
      storage.run(name, () => writeFile(file, data(), { flag: 'a' })),
    ),
  );
  assert.equal(readFileSync(file, 'utf8'), 'first second third ');
});

test('calls from within the data of a write on the same path', async (t) => {
  const file = `${folder(t)}/file`;
  const inner = [];
  function* data() {
    inner.push(appendFile(file, ' after'), readFile(file, 'utf8'));
    yield 'written';
  }
  await writeFile(file, data());
  assert.deepEqual(await Promise.all(inner), [undefined, 'written after']);
});

test('the code that makes the data of a write does not wait for that write', async (t) => {
  const path = folder(t);
  const file = `${path}/file`;
  async function* data() {
    yield 'a';
    yield `[${await readFile(file, 'utf8')}]`;
    await appendFile(file, 'b');
    await appendFile(file, ['c'], { durable: true });
    await writeFile(file, 'd', { flag: 'a' });
    yield `[${await readFile(file, { encoding: 'utf8', flag: 'r+' })}]`;
  }
  await writeFile(file, data(), { flag: 'a' });
  assert.equal(readFileSync(file, 'utf8'), 'a[a]bcd[a[a]bcd]');
});

test('nor does that of the data of another write, which is made in it', async (t) => {
  const path = folder(t);
  const [outer, inner] = [`${path}/outer`, `${path}/inner`];
  async function* innerData() {
    yield await readFile(outer, 'utf8');
    await appendFile(inner, '!');
  }
  async function* outerData() {
    yield 'outer';
    await writeFile(inner, innerData(), { flag: 'a' });
    yield await readFile(inner, 'utf8');
  }
  await appendFile(outer, outerData());
  assert.equal(readFileSync(outer, 'utf8'), 'outerouter!');
});

test('somebody else waits for the write, and so does that code when it is over', async (t) => {
  const file = `${folder(t)}/file`;
  const order = [];
  let end;
  const ended = new Promise((resolve) => {
    end = resolve;
  });
  let late;
  async function* data() {
    yield 'a';
    // In its context, but after it.
    late = ended.then(async () => {
      const writing = writeFile(file, Buffer.alloc(big, 'b'));
      order.push((await readFile(file)).length);
      await writing;
    });
    order.push(await readFile(file, 'utf8'));
    await new Promise((resolve) => setImmediate(resolve));
    yield 'b';
  }
  const writing = writeFile(file, data());
  order.push(await readFile(file, 'utf8'));
  await writing;
  end();
  await late;
  assert.deepEqual(order, ['a', 'ab', big]);
});

test('a stream that is written makes no queue capture contexts', async (t) => {
  const file = `${folder(t)}/file`;
  const code = `
    import { appendFile, writeFile } from ${JSON.stringify(import.meta.resolve('millrace/fs'))};
    import { captureContext } from ${JSON.stringify(import.meta.resolve('@millrace/base/context'))};
    await writeFile(${JSON.stringify(file)}, (async function* () { yield 'x'; })());
    console.log(captureContext('auto') === null);
  `;
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '--eval',
    code,
  ]);
  assert.equal(stdout, 'true\n');
});
