/** A relative path is of the working directory at the time of the call. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { appendFile, readFile, writeFile } from 'millrace/fs';
import { folder } from './folder.js';

const start = process.cwd();

/** Two folders, `here` and `there`, with a file in each, and this process is in `here`. */
function arrange(t) {
  const path = realpathSync(folder(t));
  for (const name of ['here', 'there']) {
    mkdirSync(`${path}/${name}`);
    writeFileSync(`${path}/${name}/file`, name);
  }
  process.chdir(`${path}/here`);
  t.after(() => process.chdir(start));
  return path;
}

test('reads: a few, and more than are read at once', async (t) => {
  const path = arrange(t);
  for (const count of [1, 5, 300]) {
    process.chdir(`${path}/here`);
    const reading = Array.from({ length: count }, () => readFile('file', 'utf8'));
    process.chdir(`${path}/there`);
    assert.deepEqual(await Promise.all(reading), Array(count).fill('here'));
  }
});

test('appends, as text and as bytes that are no text', async (t) => {
  const path = arrange(t);
  const odd = Buffer.from('\xff\xfe', 'latin1');
  const all = [appendFile('file', ' more'), appendFile('./new', 'new'), appendFile(odd, 'odd')];
  process.chdir(`${path}/there`);
  await Promise.all(all);
  assert.equal(readFileSync(`${path}/here/file`, 'utf8'), 'here more');
  assert.equal(readFileSync(`${path}/here/new`, 'utf8'), 'new');
  assert.equal(readFileSync(Buffer.concat([Buffer.from(`${path}/here/`), odd]), 'utf8'), 'odd');
  assert.equal(readFileSync(`${path}/there/file`, 'utf8'), 'there');
});

test('calls that wait for others', async (t) => {
  const path = arrange(t);
  const all = [
    writeFile(`${path}/here/file`, 'first'),
    writeFile('file', 'second'),
    readFile('file', 'utf8'),
    readFile('file', { encoding: 'utf8', flag: 'rs' }),
    appendFile('file', ' third'),
    appendFile('file', [' fourth']),
  ];
  process.chdir(`${path}/there`);
  const results = await Promise.all(all);
  assert.deepEqual(results.slice(2, 4), ['second', 'second']);
  assert.equal(readFileSync(`${path}/here/file`, 'utf8'), 'second third fourth');
  assert.equal(readFileSync(`${path}/there/file`, 'utf8'), 'there');
});

test('errors name the path as it was written', async (t) => {
  const path = arrange(t);
  const names = ['none', './none', 'none/../../x', '', 'file/x', Buffer.from('none'), 'a\ud800'];
  for (const name of names) {
    process.chdir(`${path}/here`);
    const text = Buffer.from(name).toString();
    const code = text === 'file/x' ? 'ENOTDIR' : 'ENOENT';
    const calls = [readFile(name)];
    if (text.includes('/') && text !== './none') {
      calls.push(appendFile(name, 'x'), appendFile(name, 'x'), writeFile(name, 'x'));
      calls.push(readFile(name, { flag: 'rs' }));
    }
    process.chdir(`${path}/there`);
    for (const { reason } of await Promise.allSettled(calls)) {
      assert.deepEqual([reason?.code, reason.syscall, reason.path], [code, 'open', text]);
      assert.ok(reason.message.endsWith(`, open '${text}'`), reason.message);
      assert.ok(!reason.stack.includes(path), reason.stack);
    }
  }
});

test('a path beyond a link leads where the system finds it', async (t) => {
  const path = arrange(t);
  symlinkSync(`${path}/there`, `${path}/here/link`);
  writeFileSync(`${path}/above`, 'above');
  const reading = readFile('link/../above', 'utf8');
  process.chdir('/');
  assert.equal(await reading, 'above');
});
