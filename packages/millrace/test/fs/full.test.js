/**
 * Commits that fail half-way. Injected: a file that may not grow beyond a limit (RLIMIT_FSIZE: EFBIG), a device without
 * room (/dev/full: ENOSPC), and, where a file system may be mounted, a full one.
 */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { appendFile, readFile } from 'millrace/fs';
import { folder } from './folder.js';

const child = fileURLToPath(new URL('./full-child.js', import.meta.url));
const run = promisify(execFile);

/** Checks what became of 100 records of 1,000 bytes where there was room for less, and what the file says. */
function check(outcomes, text, code) {
  const written = outcomes.indexOf(code);
  assert.ok(written >= 0, 'something must have failed');
  // Those before are in the file, all and in order; of the first that failed there may be a part.
  const record = (index) => `${index},`.padEnd(1000, '.');
  const whole = Array.from({ length: written }, (_, index) => record(index)).join('');
  assert.ok(text.startsWith(whole));
  assert.ok(text.length < whole.length + 1000);
  assert.ok(record(written).startsWith(text.slice(whole.length)));
  assert.deepEqual(
    outcomes,
    Array.from({ length: 100 }, (_, at) => (at < written ? 'written' : code)),
  );
  return written;
}

for (const durable of [false, true]) {
  test(`a file that must not grow, durable: ${durable}`, async (t) => {
    const file = `${folder(t)}/file`;
    // In blocks of 512 bytes: room for 32 records and a part of the next. SIGXFSZ is ignored by Node.js.
    const limited = ['-c', 'ulimit -f 64; exec "$0" "$@"', process.execPath, child, file, durable];
    const { stdout } = await run('sh', limited.map(String));
    const { outcomes, commits, error } = JSON.parse(stdout);
    assert.equal(check(outcomes, readFileSync(file, 'utf8'), 'EFBIG'), 32);
    assert.equal(commits, 1);
    assert.deepEqual(error, { syscall: 'write', message: 'EFBIG: file too large, write' });
  });

  test(`a device without room, durable: ${durable}`, async () => {
    const all = ['one', 'two', ''].map((text) => appendFile('/dev/full', text, { durable }));
    const outcomes = await Promise.allSettled(all);
    assert.deepEqual(
      outcomes.slice(0, 2).map(({ reason }) => reason?.message),
      Array(2).fill('ENOSPC: no space left on device, write'),
    );
  });

  test(`a full file system, durable: ${durable}`, async (t) => {
    const path = folder(t);
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', path], { stdio: 'ignore' });
    } catch {
      t.skip('may not mount a file system');
      return;
    }
    let outcomes;
    let error;
    let text;
    try {
      const { stdout } = await run(process.execPath, [child, `${path}/file`, String(durable)]);
      ({ outcomes, error } = JSON.parse(stdout));
      text = readFileSync(`${path}/file`, 'utf8');
    } finally {
      execFileSync('umount', [path]);
    }
    const written = check(outcomes, text, 'ENOSPC');
    assert.ok(written > 40 && written < 66, `${written} fit into 64 KiB`);
    assert.deepEqual(error, {
      syscall: 'write',
      message: 'ENOSPC: no space left on device, write',
    });
  });
}

test('a commit that fails does not touch those of other files', async (t) => {
  const path = folder(t);
  const files = Array.from({ length: 50 }, (_, index) =>
    index % 5 ? `${path}/${index}` : '/dev/full',
  );
  const outcomes = await Promise.allSettled(files.map((file) => appendFile(file, 'record')));
  for (const [index, file] of files.entries()) {
    if (index % 5) assert.equal(await readFile(file, 'utf8'), 'record');
    assert.equal(outcomes[index].reason?.code, index % 5 ? undefined : 'ENOSPC');
  }
});
