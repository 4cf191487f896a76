import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** Starts a server that ends with the test. Returns the address that its first line tells. */
export async function startServer(t, file, args = [], env = {}) {
  const child = spawn(process.execPath, [file, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill();
    await exited;
  });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${file} ended with ${code} before it listened`);
  });
  ended.catch(() => {});
  const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), ended]);
  return new URL(/http:\S+/.exec(line)[0]);
}
