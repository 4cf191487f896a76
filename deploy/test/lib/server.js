/** Starts what an image starts, on a free port of this machine. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { until } from '../../../scripts/lib/program-tests.js';
import { folder, root } from './files.js';

/** Runs a command; it ends with the test. `text` is what it has written. */
export function run(t, [program, ...args], env = {}, cwd = undefined) {
  const child = spawn(program, args, {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  const process_ = { child, text: '', exited: once(child, 'close').then(([code]) => code) };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      process_.text += text;
    });
  }
  t.after(async () => {
    if (child.exitCode === null) child.kill('SIGKILL');
    await process_.exited;
  });
  return process_;
}

/** The application of an image with the arguments of its container: until it listens. */
export async function startImage(t, app, main, args = []) {
  const env = { MAIN: join(root, app, main), HOST: '127.0.0.1', PORT: '0' };
  const server = run(t, [process.execPath, join(folder, 'image/start.js'), ...args], env);
  await until(() => /listening on http/.test(server.text) || server.child.exitCode !== null);
  server.url = /listening on (http\S+)/.exec(server.text)?.[1];
  if (server.url === undefined) throw new Error(server.text);
  return server;
}

/** The status of an answer. */
export async function statusOf(url, path) {
  const answer = await fetch(url + path, { headers: { connection: 'close' } });
  await answer.body.cancel();
  return answer.status;
}
