import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { millraceAdapter } from 'millrace/ws';
import { Server } from 'socket.io';
import { copyCode } from '../native/code.js';
import { open } from './socket-io.js';

test('millraceAdapter() is taken by the constructor of a server too', async (t) => {
  const house = await open(t, { adapter: undefined });
  const io = new Server({ adapter: millraceAdapter() });
  assert.equal(io.of('/').adapter.constructor, io.of('/later').adapter.constructor);
  assert.equal(io.of('/').adapter.constructor.name, 'MillraceAdapter');
  house.io.adapter(millraceAdapter());
  const a = await house.connect();
  house.io.emit('m', 1);
  assert.deepEqual(await a.take(), [['m', 1]]);
});

test('with connection state recovery it is that of sessions', () => {
  const { SessionAwareAdapter, Adapter } = createRequire(import.meta.url)('socket.io-adapter');
  const recovering = new Server({ connectionStateRecovery: {}, adapter: millraceAdapter() });
  assert.ok(recovering.of('/').adapter instanceof SessionAwareAdapter);
  const plain = new Server({ adapter: millraceAdapter() });
  assert.ok(plain.of('/').adapter instanceof Adapter);
  assert.ok(!(plain.of('/').adapter instanceof SessionAwareAdapter));
});

test('one adapter for several servers', () => {
  const adapter = millraceAdapter();
  const plain = new Server({ adapter });
  const recovering = new Server({ connectionStateRecovery: {}, adapter });
  const name = (io) => Object.getPrototypeOf(io.of('/').adapter.constructor).name;
  assert.deepEqual([name(plain), name(recovering)], ['Adapter', 'SessionAwareAdapter']);
});

test('other versions of socket.io are refused', () => {
  const adapter = millraceAdapter();
  // Before 4.6 there is no restoreSession(), and engine.io does not take packets that are encoded as frames already.
  class Adapter {
    apply() {}
    broadcastWithAck() {}
  }
  for (const [namespace, message] of [
    [undefined, /the namespace is undefined;.*socket\.io 4, from 4\.6 on/],
    ['/', /the namespace is "\/";.*socket\.io 4, from 4\.6 on/],
    [{ server: { opts: {} }, adapter: new Adapter() }, /without restoreSession\(\);.*4\.6/],
  ]) {
    assert.throws(() => new adapter(namespace), { code: 'MILLRACE_E_INVALID_ARGUMENT', message });
  }
});

/** A folder with a copy of this package where neither socket.io nor anything else is found. */
function apart(t) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-apart-'));
  t.after(() => rmSync(folder, { recursive: true }));
  copyCode(join(folder, 'node_modules'));
  return folder;
}

function run(folder, script) {
  const file = join(folder, 'script.mjs');
  writeFileSync(file, script);
  // The copy has no addon.
  const env = { ...process.env, MILLRACE_NATIVE: '0' };
  return execFileSync(process.execPath, [file], { cwd: folder, env, encoding: 'utf8' }).trim();
}

test('millrace/ws can be imported where there is no socket.io', (t) => {
  const script = `
    import { millraceAdapter, Rooms } from 'millrace/ws';
    new Rooms();
    try {
      new (millraceAdapter())({ server: {} });
    } catch ({ code, message }) {
      console.log(code, message);
    }`;
  assert.match(
    run(apart(t), script),
    /^MILLRACE_E_INVALID_ARGUMENT socket\.io-adapter cannot be found; .*io\.adapter\(millraceAdapter\(\)\)$/,
  );
});

test("the server's own adapter serves where socket.io-adapter is not found", (t) => {
  const folder = apart(t);
  const socketIo = createRequire(import.meta.url).resolve('socket.io');
  const script = `
    import { createRequire } from 'node:module';
    import { millraceAdapter } from 'millrace/ws';
    const { Server } = createRequire(import.meta.url)(${JSON.stringify(socketIo)});
    const io = new Server();
    io.adapter(millraceAdapter());
    console.log(Object.getPrototypeOf(io.of('/').adapter.constructor).name, io.of('/x').adapter.rooms.size);`;
  assert.equal(run(folder, script), 'Adapter 0');
});

test("socket.io-adapter is found through the application's socket.io", (t) => {
  const folder = apart(t);
  const socketIo = createRequire(import.meta.url).resolve('socket.io/package.json');
  // As package managers that do not lay packages flat: only what the application names.
  symlinkSync(dirname(socketIo), join(folder, 'node_modules', 'socket.io'), 'dir');
  const script = `
    import { Server } from 'socket.io';
    import { millraceAdapter } from 'millrace/ws';
    const io = new Server({ adapter: millraceAdapter() });
    console.log(Object.getPrototypeOf(io.of('/').adapter.constructor).name);`;
  assert.equal(run(folder, script), 'Adapter');
});
