import assert from 'node:assert/strict';
import test from 'node:test';
import { GENERATOR, KEEP, nothingIsLeft, openedAt, SERVER } from './left.js';
import { startDemo, TINY } from './support.js';

test('Ctrl-C between two arms leaves nothing behind', async (t) => {
  const demo = startDemo(t, TINY);
  await demo.says('[1/4]');
  process.kill(-demo.child.pid, 'SIGINT');
  assert.equal(await demo.ended, 130);
  assert.equal(demo.errors, '');
  await nothingIsLeft(demo);
});

test('a second Ctrl-C is harmless', async (t) => {
  const demo = startDemo(t, TINY);
  await demo.runs(GENERATOR);
  process.kill(-demo.child.pid, 'SIGINT');
  process.kill(-demo.child.pid, 'SIGINT');
  assert.equal(await demo.ended, 130);
  assert.equal(demo.errors, '');
  await nothingIsLeft(demo);
});

test('SIGTERM to the demo alone takes its children along', async (t) => {
  const demo = startDemo(t, TINY);
  await demo.runs(GENERATOR);
  process.kill(demo.child.pid, 'SIGTERM');
  assert.equal(await demo.ended, 143);
  assert.equal(demo.errors, '');
  await nothingIsLeft(demo);
});

for (const [moment, [args, policy]] of Object.entries({
  'under load': [TINY, 'direct'],
  'later on': [KEEP, 'adaptive'],
})) {
  test(`a chat that crashes ${moment} is named, with code 1`, async (t) => {
    const demo = startDemo(t, args);
    if (args === KEEP) await openedAt(demo);
    else await demo.runs(GENERATOR);
    const { pid } = await demo.runs(SERVER);
    process.kill(pid, 'SIGKILL');
    assert.equal(await demo.ended, 1);
    assert.equal(demo.errors, `Failed: the chat (${policy}) ended unexpectedly with SIGKILL.\n`);
    await nothingIsLeft(demo);
  });
}

test('simulated people fill the chat that is left running', async (t) => {
  const demo = startDemo(t, KEEP);
  const url = await openedAt(demo);
  const get = async (path) => (await fetch(new URL(path, url))).json();
  assert.equal((await get('/stats')).policy, 'adaptive');
  const said = (room) => get(`/api/rooms/${room}/messages`).then(({ messages }) => messages ?? []);
  await demo.until(async () => {
    const { rooms } = await get('/api/rooms');
    return rooms.length >= 3 && rooms.find(({ room }) => room === 'lobby')?.members === 6;
  });
  await demo.until(async () => {
    const all = (await Promise.all(['lobby', 'garden', 'kitchen', 'workshop'].map(said))).flat();
    return all.length > 0 && all.every(({ from }) => from.endsWith('-sim'));
  });
});
