/** Calls on files that do not wait, as the addon makes them. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';

const { binding, nativeError } = await import('../../dist/native/load.js');
const skip = nativeError ?? (process.platform !== 'linux' && 'only Linux can read without waiting');

/** The ID of a file's mount, by the system. */
function mountOf(path) {
  const fd = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
  const info = fs.readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1');
  fs.closeSync(fd);
  return Number(/mnt_id:\t(\d+)/.exec(info)[1]);
}

/** An empty folder whose mount is known as a local one. */
function folderOf(t) {
  const folder = fs.mkdtempSync(join(tmpdir(), 'millrace-calls-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  fs.writeFileSync(join(folder, 'file'), 'content');
  binding.fileMount(mountOf(join(folder, 'file')), true);
  return folder;
}

describe('fileLook and fileOpen', { skip }, () => {
  test('know whether the system can do it', (t) => {
    const fd = binding.fileLook(join(folderOf(t), 'file'), true);
    assert.equal(binding.fileCanLook(), fd >= 0);
    if (fd >= 0) binding.fileDrop(fd);
  });

  test('ask for a mount that they do not know, and refuse what is not on a local one', (t) => {
    const path = join(folderOf(t), 'file');
    const id = mountOf('/proc/self/status');
    assert.equal(binding.fileLook('/proc/self/status', true), -2 - id);
    assert.equal(binding.fileOpen('/proc/self/status'), -2 - id);
    binding.fileMount(id, false);
    assert.equal(binding.fileLook('/proc/self/status', true), -1);
    assert.equal(binding.fileOpen('/proc/self/status'), -1);
    binding.fileMount(mountOf(path), false);
    assert.equal(binding.fileOpen(path), -1);
    binding.fileMount(mountOf(path), true);
    const fd = binding.fileOpen(path);
    assert.equal(fs.readFileSync(fd, 'utf8'), 'content');
    fs.closeSync(fd);
  });

  test('remember the latest mounts only', (t) => {
    const path = join(folderOf(t), 'file');
    for (let id = 1_000_000; id < 1_000_100; id++) binding.fileMount(id, true);
    assert.equal(binding.fileOpen(path), -2 - mountOf(path));
  });

  test('refuse what is no regular file, without waiting', (t) => {
    const folder = folderOf(t);
    const at = (name) => join(folder, name);
    execFileSync('mkfifo', [at('fifo')]);
    fs.symlinkSync('loop', at('loop'));
    fs.symlinkSync('file', at('link'));
    const bad = ['fifo', 'loop', '', 'none', 'file/', 'x'.repeat(5000), 'file\0'].map(at);
    for (const path of [...bad, '', 'x'.repeat(4096), Buffer.from(`${at('file')}\0`)]) {
      assert.equal(binding.fileLook(path, true), -1);
      assert.equal(binding.fileOpen(path), -1);
    }
    assert.equal(binding.fileLook(at('link'), false), -1);
    // Once, as the system notes when a link was followed.
    fs.statSync(at('link'));
    for (const path of [at('link'), Buffer.from(at('file'))]) {
      const fd = binding.fileLook(path, true);
      assert.equal(fs.fstatSync(fd).size, 7);
      assert.throws(() => fs.readSync(fd, Buffer.alloc(1)), { code: 'EBADF' });
      binding.fileDrop(fd);
      assert.throws(() => fs.fstatSync(fd), { code: 'EBADF' });
    }
  });
});

describe('fileRead', { skip }, () => {
  test('reads what was asked for, or up to the end', (t) => {
    const fd = binding.fileOpen(join(folderOf(t), 'file'));
    const buffer = Buffer.alloc(10);
    assert.equal(binding.fileRead(fd, buffer, 1, 3, 2), 3);
    assert.equal(buffer.toString('latin1'), '\0nte\0\0\0\0\0\0');
    assert.equal(binding.fileRead(fd, buffer, 0, 10, 0), 7);
    assert.equal(binding.fileRead(fd, buffer, 0, 10, 7), 0);
    assert.equal(binding.fileRead(fd, buffer, 0, 10, 2 ** 51), 0);
    assert.equal(fs.readSync(fd, buffer, 0, 2, null), 2);
    assert.equal(binding.fileRead(fd, buffer, 0, 2, -1), 2);
    assert.equal(fs.readSync(fd, buffer, 0, 9, null), 3);
    assert.equal(binding.fileRead(fd, buffer, 0, 2, -1), 0);
    fs.closeSync(fd);
  });

  test('refuses what is outside of the buffer, and descriptors that cannot', (t) => {
    const folder = folderOf(t);
    const fd = binding.fileOpen(join(folder, 'file'));
    const buffer = Buffer.alloc(10);
    for (const [offset, length] of [
      [-1, 1],
      [0, 0],
      [0, 11],
      [10, 1],
      [11, 0],
      [5, 6],
      [2 ** 40, 1],
    ]) {
      assert.equal(binding.fileRead(fd, buffer, offset, length, 0), -1);
    }
    fs.closeSync(fd);
    assert.equal(binding.fileRead(fd, buffer, 0, 1, 0), -1);
    const folderFd = fs.openSync(folder);
    assert.equal(binding.fileRead(folderFd, buffer, 0, 1, 0), -1);
    fs.closeSync(folderFd);
    assert.throws(() => binding.fileRead(fd, [], 0, 1, 0), { code: 'MILLRACE_E_INVALID_ARGUMENT' });
  });

  test('notes a mount that cannot read without waiting', () => {
    const id = mountOf('/proc/self/status');
    binding.fileMount(id, true);
    const fd = binding.fileOpen('/proc/self/status');
    assert.ok(fd >= 0);
    assert.equal(binding.fileRead(fd, Buffer.alloc(10), 0, 10, 0), -1);
    assert.equal(binding.fileOpen('/proc/self/status'), -1);
    fs.closeSync(fd);
  });
});

test('fileClose closes only what cannot make it wait', { skip }, (t) => {
  const path = join(folderOf(t), 'file');
  const writable = fs.openSync(path, 'r+');
  assert.equal(binding.fileClose(writable), false);
  assert.equal(fs.readSync(writable, Buffer.alloc(1)), 1);
  fs.closeSync(writable);
  const folder = fs.openSync(tmpdir());
  assert.equal(binding.fileClose(folder), false);
  fs.closeSync(folder);
  const [first, second] = [binding.fileOpen(path), binding.fileOpen(path)];
  assert.equal(binding.fileCheck(first), true);
  assert.equal(binding.fileClose(first), true);
  assert.equal(binding.fileCheck(first), false);
  assert.equal(binding.fileClose(first), false);
  assert.equal(binding.fileCheck(second), true);
  fs.unlinkSync(path);
  assert.equal(binding.fileCheck(second), false);
  assert.equal(binding.fileClose(second), false);
  fs.closeSync(second);
});
