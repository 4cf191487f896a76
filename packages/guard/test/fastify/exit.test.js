// Nothing of the plugin keeps a process alive.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

const program = `
  import Fastify from 'fastify';
  import plugin from '@millrace/guard';
  const app = Fastify({ pluginTimeout: 600_000 });
  let hangs;
  const hanging = new Promise((resolve) => (hangs = resolve));
  let checks = 0;
  await app.register(plugin, {
    maxEventLoopDelay: 1000,
    healthCheck() {
      if (checks++ === 0) return true;
      hangs();
      return new Promise(() => {});
    },
    healthCheckInterval: 1,
    healthCheckTimeout: 600_000,
    exposeStatusRoute: true,
  });
  app.get('/', () => 'answered');
  console.log((await app.inject('/')).body);
  const alive = setInterval(() => {}, 1000);
  await hanging;
  clearInterval(alive);
`;

test('a process with the plugin ends by itself', () => {
  const { status, stdout, stderr, error } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', program],
    { cwd: import.meta.dirname, encoding: 'utf8', timeout: 600_000 },
  );
  assert.deepEqual([error, stderr], [undefined, '']);
  assert.deepEqual([status, stdout], [0, 'answered\n']);
});
