import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

const MODULE = (name) => JSON.stringify(new URL(`../${name}.js`, import.meta.url).href);

/** A lab that is killed as soon as its server is there, before anybody is told the number of the group. */
const KILLED = `
  import { spawn } from 'node:child_process';
  import { guard } from ${MODULE('guard')};
  import { newMark } from ${MODULE('strays')};
  const mark = newMark();
  guard(mark);
  const server = spawn('sleep', ['600'], { env: { ...process.env, ...mark }, detached: true, stdio: 'ignore' });
  process.stdout.write(String(server.pid), () => process.kill(process.pid, 'SIGKILL'));
`;

/** Neither gone nor a zombie. */
function isRunning(pid) {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

test('a server is ended when the lab is killed right after its start', async () => {
  const args = ['--input-type=module', '-e', KILLED];
  const { stdout, signal } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.equal(signal, 'SIGKILL');
  const pid = Number(stdout);
  assert.ok(pid > 0);
  const end = performance.now() + 60_000;
  while (isRunning(pid) && performance.now() < end) await sleep(50);
  assert.equal(isRunning(pid), false);
});
