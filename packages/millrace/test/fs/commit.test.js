/** Group commit: what is appended while a commit is in flight becomes the next one. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, unlinkSync } from 'node:fs';
import { test } from 'node:test';
import { appendFile, stats, writeFile } from 'millrace/fs';
import { folder } from './folder.js';

/** Runs `act`; gives by how much the counters went up. */
async function counted(act) {
  const before = stats();
  await act();
  const after = stats();
  const difference = (name) => after[name] - before[name];
  return {
    appends: difference('appends'),
    commits: difference('commits'),
    bytes: difference('bytes'),
  };
}

const records = (count) => Array.from({ length: count }, (_, index) => `record ${index}\n`);

for (const options of [undefined, { durable: true }, { flush: true }]) {
  test(`one tick, one commit, ${JSON.stringify(options)}`, async (t) => {
    const file = `${folder(t)}/file`;
    const all = records(1000);
    const work = () => Promise.all(all.map((record) => appendFile(file, record, options)));
    const bytes = all.join('').length;
    assert.deepEqual(await counted(work), { appends: 1000, commits: 1, bytes });
    assert.equal(readFileSync(file, 'utf8'), all.join(''));
  });

  test(`callers who append again when they are answered share each commit, ${JSON.stringify(options)}`, async (t) => {
    const file = `${folder(t)}/file`;
    const caller = async (name) => {
      for (let index = 0; index < 20; index++)
        await appendFile(file, `${name} ${index}\n`, options);
    };
    // Through another function, so that the answer takes several microtasks to arrive.
    const through = async (name) => await caller(name);
    const names = records(50).map((_, index) => `caller${index}`);
    const { appends, commits } = await counted(() => Promise.all(names.map(through)));
    assert.deepEqual([appends, commits], [1000, 20]);
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    for (const name of names) {
      const own = lines.filter((line) => line.startsWith(`${name} `));
      assert.deepEqual(
        own,
        records(20).map((_, index) => `${name} ${index}`),
      );
    }
  });
}

test('callers who come while a commit is in flight share all the next ones', async (t) => {
  const file = `${folder(t)}/file`;
  const caller = async (name) => {
    for (let index = 0; index < 20; index++) await appendFile(file, `${name} ${index}\n`);
  };
  const work = async () => {
    const first = records(10).map(caller);
    // Right behind the hand-over of what these have asked for.
    await new Promise((resolve) => queueMicrotask(() => process.nextTick(resolve)));
    await Promise.all([...first, ...records(10).map(caller)]);
  };
  // The second half is one commit behind, and in every commit there are records of both.
  const { appends, commits } = await counted(work);
  assert.deepEqual([appends, commits], [400, 21]);
});

test('each file has its own commits', async (t) => {
  const path = folder(t);
  const all = records(300);
  const work = () =>
    Promise.all(all.map((record, index) => appendFile(`${path}/${index % 3}`, record)));
  assert.equal((await counted(work)).commits, 3);
  for (const rest of [0, 1, 2]) {
    const own = all.filter((_, index) => index % 3 === rest);
    assert.equal(readFileSync(`${path}/${rest}`, 'utf8'), own.join(''));
  }
});

test('a commit is bounded, and no record is divided between two', async (t) => {
  const file = `${folder(t)}/file`;
  const record = 'x'.repeat(400_000);
  const work = () => Promise.all(records(30).map((name) => appendFile(file, name + record)));
  // 4 MiB hold ten of them.
  assert.equal((await counted(work)).commits, 3);
  assert.ok(
    readFileSync(file, 'latin1') ===
      records(30)
        .map((name) => name + record)
        .join(''),
  );
});

test('bytes are taken at the call', async (t) => {
  const file = `${folder(t)}/file`;
  const bytes = Buffer.from('before ');
  const options = { encoding: 'hex' };
  const all = [appendFile(file, bytes), appendFile(file, '6869', options)];
  bytes.fill('x');
  options.encoding = 'klingon';
  const path = Buffer.from(file);
  all.push(appendFile(path, ' there'));
  path.fill('x');
  await Promise.all(all);
  assert.equal(readFileSync(file, 'utf8'), 'before hi there');
});

test('a log that is renamed between two commits goes on in a new file', async (t) => {
  const path = folder(t);
  for (let round = 0; round < 5; round++) {
    await Promise.all(records(10).map((record) => appendFile(`${path}/log`, record)));
    renameSync(`${path}/log`, `${path}/log.${round}`);
  }
  assert.ok(!existsSync(`${path}/log`));
  for (let round = 0; round < 5; round++) {
    assert.equal(readFileSync(`${path}/log.${round}`, 'utf8'), records(10).join(''));
  }
});

test('the mode is of the call that makes the file', async (t) => {
  const file = `${folder(t)}/file`;
  const mask = process.umask(0o022);
  t.after(() => process.umask(mask));
  await Promise.all([
    appendFile(file, 'one', { mode: 0o640 }),
    appendFile(file, 'two', { mode: 0o604 }),
    appendFile(file, 'three'),
  ]);
  assert.equal(statSync(file).mode & 0o777, 0o640);
  assert.equal(readFileSync(file, 'utf8'), 'onetwothree');
  unlinkSync(file);
  const controller = new AbortController();
  const given = appendFile(file, 'one', { mode: 0o640, signal: controller.signal });
  const making = appendFile(file, 'two', { mode: 0o604 });
  controller.abort();
  await assert.rejects(given, { name: 'AbortError' });
  await making;
  assert.equal(statSync(file).mode & 0o777, 0o604);
  unlinkSync(file);
  await appendFile(file, 'new');
  assert.equal(statSync(file).mode & 0o777, 0o644);
});

test('an empty record makes the file', async (t) => {
  const path = folder(t);
  const all = [
    appendFile(`${path}/file`, ''),
    appendFile(`${path}/durable`, '', { durable: true }),
  ];
  await Promise.all(all);
  assert.deepEqual(
    ['file', 'durable'].map((name) => statSync(`${path}/${name}`).size),
    [0, 0],
  );
});

test('every caller gets an error of his own, with the path as he wrote it', async (t) => {
  const path = folder(t);
  const names = [`${path}/none/x`, `${path}/none/x`, `${path}/./none/x`, `${path}/none/x`];
  const outcomes = await Promise.allSettled(names.map((name) => appendFile(name, 'x')));
  const errors = outcomes.map(({ reason }) => reason);
  assert.equal(new Set(errors).size, names.length);
  for (const [index, error] of errors.entries()) {
    assert.equal(error.path, names[index]);
    assert.equal(error.message, `ENOENT: no such file or directory, open '${names[index]}'`);
    assert.deepEqual([error.code, error.syscall], ['ENOENT', 'open']);
  }
  mkdirSync(`${path}/none`);
  await appendFile(names[0], 'x');
});

for (const [title, data] of [
  ['an iterable', () => ['a', 'b', 'c']],
  ['a large text', () => 'x'.repeat(600_000)],
  ['another flag', () => 'abc'],
]) {
  test(`durable with ${title}, which Node.js writes`, async (t) => {
    const file = `${folder(t)}/file`;
    const flag = title === 'another flag' ? 'a+' : 'a';
    await appendFile(file, data(), { durable: true, flag });
    assert.equal(readFileSync(file, 'utf8'), [...data()].join(''));
    const bad = appendFile(file, data(), { durable: true, flag, flush: 'yes' });
    await assert.rejects(bad, { code: 'ERR_INVALID_ARG_TYPE' });
  });
}

test('durable that is neither true nor false is refused, and nothing is written', async (t) => {
  const file = `${folder(t)}/file`;
  for (const durable of ['yes', 1, null, {}]) {
    await assert.rejects(appendFile(file, 'x', { durable }), {
      name: 'MillraceError',
      code: 'MILLRACE_E_INVALID_OPTION',
      message: /durable.*true or false/,
    });
  }
  assert.ok(!existsSync(file));
  await assert.rejects(
    appendFile(file, 'x', {
      get durable() {
        throw new RangeError('not today');
      },
    }),
    RangeError,
  );
  await writeFile(file, '');
});
