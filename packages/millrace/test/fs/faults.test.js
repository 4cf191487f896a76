/**
 * Faults that no file shows when it is told to. Injected, each by its name: functions of node:fs and of the addon that fail
 * or do nothing, and memory that there is not.
 */
import assert from 'node:assert/strict';
import fs, { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { folder } from './folder.js';

const injected = { write: null, fdatasync: null, close: null };
const real = { write: fs.write, fdatasync: fs.fdatasync, close: fs.close };
for (const name of Object.keys(real)) {
  fs[name] = (...args) => (injected[name] ?? real[name])(...args);
}
// They take those functions when they are loaded.
const { javascriptBackend } = await import('../../dist/fs/javascript.js');
const { nativeBackend } = await import('../../dist/fs/native.js');
const { backend } = await import('../../dist/fs/native.js');
const { Gate } = await import('../../dist/fs/javascript.js');
const { Records } = await import('../../dist/fs/records.js');
const { appendFile, readFile } = await import('millrace/fs');

function inject(t, faults) {
  Object.assign(injected, faults);
  t.after(() => Object.assign(injected, { write: null, fdatasync: null, close: null }));
}

const fault = (syscall, code = 'EIO') =>
  Object.assign(new Error(`${code}: injected, ${syscall}`), { code, syscall });

const failing = (syscall) => (fd, callback) => {
  if (syscall === 'close') real.close(fd, () => callback(fault('close')));
  else callback(fault(syscall));
};

/** Writes so many bytes, and then gives what `then` says. */
function writingOnly(bytes, then) {
  return (fd, data, at, length, position, callback) => {
    if (at >= bytes) then(callback);
    else real.write(fd, data, at, Math.min(length, bytes - at), position, callback);
  };
}

/** What becomes of the records of a commit. */
function commit(file, texts, durable) {
  return new Promise((resolve) => {
    javascriptBackend.append({
      path: file,
      base: null,
      records: recordsOf(texts),
      mode: 0o666,
      durable,
      done: (errors) => resolve(errors.map((error) => error && `${error.code} ${error.syscall}`)),
    });
  });
}

function recordsOf(texts) {
  const records = new Records();
  for (const text of texts) records.add(text, Buffer.byteLength(text));
  return records;
}

const full = (callback) => callback(fault('write', 'ENOSPC'));

test('a write that fails, and then the sync: each record has the error that concerns it', async (t) => {
  const file = `${folder(t)}/file`;
  inject(t, { write: writingOnly(5, full), fdatasync: failing('fdatasync') });
  const errors = await commit(file, ['one ', 'two ', 'three'], true);
  assert.deepEqual(errors, ['EIO fdatasync', 'ENOSPC write', 'ENOSPC write']);
  assert.equal(readFileSync(file, 'utf8'), 'one t');
});

test('a write that fails, and then the close', async (t) => {
  const file = `${folder(t)}/file`;
  inject(t, { write: writingOnly(5, full), close: failing('close') });
  const errors = await commit(file, ['one ', 'two '], false);
  assert.deepEqual(errors, ['EIO close', 'ENOSPC write']);
});

test('a sync that fails, and then the close: the first error stays', async (t) => {
  const file = `${folder(t)}/file`;
  inject(t, { fdatasync: failing('fdatasync'), close: failing('close') });
  assert.deepEqual(await commit(file, ['one ', 'two '], true), Array(2).fill('EIO fdatasync'));
});

test('a write that takes nothing is an error', async (t) => {
  const file = `${folder(t)}/file`;
  let calls = 0;
  const nothing = (callback) => {
    // The second time is one too many; it shall end, too.
    if (++calls > 1) callback(fault('write', 'ELOOP'));
    else callback(null, 0);
  };
  inject(t, { write: writingOnly(4, nothing) });
  assert.deepEqual(await commit(file, ['one ', 'two '], false), [null, 'EIO write']);
  assert.equal(readFileSync(file, 'utf8'), 'one ');
});

test('a gate lets any number through that leave at once', () => {
  const gate = new Gate(1);
  const order = [];
  gate.enter(() => {});
  for (let number = 0; number < 50_000; number++) {
    gate.enter(() => {
      order.push(number);
      gate.leave();
    });
  }
  gate.leave();
  assert.equal(order.length, 50_000);
  assert.ok(order.every((number, index) => number === index));
  // There is room for one, and for no other.
  gate.enter(() => order.push('in'));
  gate.enter(() => order.push('next'));
  assert.equal(order.at(-1), 'in');
  gate.leave();
  assert.equal(order.at(-1), 'next');
});

test('any number of reads that are given up while they wait', async (t) => {
  const file = `${folder(t)}/file`;
  writeFileSync(file, 'content');
  const answers = { read: 0, cancelled: 0 };
  await new Promise((resolve) => {
    let left = 20_100;
    const make = (index) => ({
      path: file,
      base: null,
      encoding: null,
      cancelled: false,
      done(error, data) {
        assert.equal(error, null);
        answers[data === undefined ? 'cancelled' : 'read']++;
        if (--left === 0) resolve();
      },
      index,
    });
    const requests = Array.from({ length: left }, (_, index) => make(index));
    javascriptBackend.read(requests);
    for (const request of requests) if (request.index >= 100) request.cancelled = true;
  });
  assert.deepEqual(answers, { read: 100, cancelled: 20_000 });
});

test('without memory for the addon, files are read and written by Node.js', async (t) => {
  const file = `${folder(t)}/file`;
  let opened = 0;
  const files = nativeBackend({
    filesOpen() {
      opened++;
      throw new RangeError('no memory');
    },
  });
  for (const round of [1, 2]) {
    const errors = await new Promise((done) => {
      const records = recordsOf(['record ']);
      files.append({ path: file, base: null, records, mode: 0o666, durable: false, done });
    });
    assert.deepEqual(errors, [null]);
    const text = await new Promise((resolve) => {
      const done = (_error, data) => resolve(data);
      files.read([{ path: file, base: null, encoding: 'utf8', cancelled: false, done }]);
    });
    assert.equal(text, 'record '.repeat(round));
  }
  assert.equal(opened, 1);
});

test('a commit that throws takes no other with it', async (t) => {
  const path = folder(t);
  const { append } = backend;
  t.after(() => {
    backend.append = append;
  });
  backend.append = (request) => {
    if (request.path.endsWith('bad')) throw new RangeError('no memory');
    append(request);
  };
  const names = ['one', 'bad', 'two', 'bad'];
  const outcomes = await Promise.allSettled(
    names.map((name) => appendFile(`${path}/${name}`, 'x')),
  );
  assert.deepEqual(
    outcomes.map(({ reason }) => reason?.message),
    [undefined, 'no memory', undefined, 'no memory'],
  );
  backend.append = append;
  await appendFile(`${path}/bad`, 'again');
  assert.equal(readFileSync(`${path}/bad`, 'utf8'), 'again');
});

const withAddon = backend.name === 'javascript' ? () => {} : test;

withAddon('a read without memory for its bytes takes no other with it', async (t) => {
  const path = folder(t);
  const sizes = Array.from({ length: 100 }, (_, index) => (index % 10 === 3 ? 12_345 : 100));
  for (const [index, size] of sizes.entries()) {
    writeFileSync(`${path}/${index}`, Buffer.alloc(size));
  }
  const { allocUnsafeSlow } = Buffer;
  t.after(() => {
    Buffer.allocUnsafeSlow = allocUnsafeSlow;
  });
  Buffer.allocUnsafeSlow = (size) => {
    if (size === 12_345) throw new RangeError('no memory');
    return allocUnsafeSlow(size);
  };
  const outcomes = await Promise.allSettled(sizes.map((_, index) => readFile(`${path}/${index}`)));
  assert.deepEqual(
    outcomes.map(({ value, reason }) => value?.length ?? reason.message),
    sizes.map((size) => (size === 100 ? 100 : 'no memory')),
  );
});
