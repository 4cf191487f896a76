/** The guide "Scale out": two nodes and two workers; a process and a worker are killed, and every task is done. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePort } from '../../../packages/lab/run/up.js';
import { natsServer, unable } from '../../../packages/nats/test/nats.js';
import { root } from '../../../scripts/lib/paths.js';
import { guide, output, place, start, until } from '../lib/walk.js';

const block = guide('docs/guides/scale.md');

test('a killed process is replaced, and no task is lost', { skip: unable }, async (t) => {
  const server = await natsServer(t, { jetstream: true });
  const [one, two] = [await freePort(), await freePort()];
  const client = block('the-change-3')
    .replaceAll('3001', String(one))
    .replaceAll('3002', String(two));
  const folder = place(t, {
    'server.js': block('the-program').replace('nats://127.0.0.1:4222', server.url),
    'tasks.js': block('the-program-2'),
    'main.js': block('the-change'),
    'client.js': client,
  });
  const here = { cwd: folder };
  const nodes = [one, two].map((port) =>
    start(t, process.execPath, ['main.js', String(port)], here),
  );
  const worker = () => {
    const args = ['tasks.js', '--stream', 'reports', '--broker', server.url];
    return start(
      t,
      process.execPath,
      [join(root, 'packages/nats/bin/millrace-worker.js'), ...args],
      here,
    );
  };
  const [killed, other] = [worker(), worker()];
  await until(() => nodes.every(({ printed }) => /^processes: \d+ \d+$/m.test(printed)));
  await until(() => [killed, other].every(({ printed }) => printed.includes(' up: ')));

  const printed = await output(t, process.execPath, ['client.js'], here);
  assert.match(printed, /^from \d+: hello from the other machine\n100 tasks are stored\n/);

  killed.child.kill('SIGKILL');
  const [, pid] = /^processes: (\d+)/m.exec(nodes[0].printed);
  process.kill(Number(pid), 'SIGKILL');
  await until(() => nodes[0].printed.includes(`process ${pid} (slot 1) was killed by SIGKILL`));
  const done = () => {
    const path = join(folder, 'done.log');
    const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
    return new Set([...text.matchAll(/^report (\d+),/gm)].map(([, n]) => n));
  };
  await until(() => done().size === 100);
  assert.match(
    await output(t, process.execPath, ['client.js'], here),
    /hello from the other machine/,
  );

  for (const { child } of [...nodes, other]) child.kill('SIGTERM');
  for (const program of [...nodes, other]) assert.equal(await program.ended, 0, program.printed);
});
