/** The image, built and run: without a daemon and without a registry, so on base images of this machine. It has to be root. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { TaskClient } from '@millrace/nats/tasks';
import { natsServer, unable as noBroker } from '../../packages/nats/test/nats.js';
import { until } from '../../scripts/lib/program-tests.js';
import { which } from '../../scripts/lib/which.js';
import { build, storageIn } from '../container/build.js';
import { command } from '../container/command.js';
import { container } from '../container/run.js';
import { container as manifest } from '../test/lib/files.js';
import { run, statusOf } from '../test/lib/server.js';

const missing = ['buildah', 'crun', 'unshare'].filter((name) => !which(name));
const unable =
  (missing.length > 0 && `${missing.join(', ')} is missing`) ||
  (process.getuid() !== 0 && 'it has to be root') ||
  noBroker;

/** MB of an image, without Node.js and the libraries of its base. */
const MOST_MB = 80;

const STATUS = `
  const fs = require('node:fs');
  const [, caps] = /CapEff:\\s*(\\w+)/.exec(fs.readFileSync('/proc/1/status', 'utf8'));
  const tried = ['/app/x', '/usr/x', '/x'].map((path) => {
    try { fs.writeFileSync(path, ''); return 'written'; } catch (error) { return error.code; }
  });
  fs.writeFileSync('/tmp/x', '');
  console.log(JSON.stringify({ uid: process.getuid(), caps, tried, pid: fs.readlinkSync('/proc/1/exe') }));
`;

for (const [app, main, ready] of [
  ['examples/chat', 'server.js', '/readyz'],
  ['examples/compute', 'main.js', '/health'],
  ['deploy/scaler', 'main.js', '/readyz'],
]) {
  describe(`image of ${app}`, { skip: unable }, () => {
    test('is small, is not root, needs no writable root, is healthy, and ends at SIGTERM', async (t) => {
      const place = await mkdtemp(join(tmpdir(), 'millrace-image-'));
      let prepared;
      t.after(async () => {
        await prepared?.remove();
        await rm(place, { recursive: true, force: true });
      });
      const storage = storageIn(place);
      const tag = `localhost/millrace-${main.split('.')[0]}`;
      await build({ storage, app, main, tag });
      assert.ok(
        (await sizeOf(storage, tag)) - (await sizeOf(storage, 'localhost/millrace-run')) <
          MOST_MB * 1e6,
      );

      prepared = await container({
        ...{ storage, tag, place, cpus: 1.5, memoryMb: 256 },
        env: { HOST: '127.0.0.1', PORT: '0' },
      });
      const server = run(t, prepared.command);
      await until(() => /listening on http/.test(server.text) || server.child.exitCode !== null);
      const url = /listening on (http\S+)/.exec(server.text)?.[1];
      assert.ok(url, server.text);
      for (const path of ['/livez', ready]) assert.equal(await statusOf(url, path), 200, path);

      const inside = async (words) => {
        const done = run(t, prepared.exec(words));
        return { code: await done.exited, text: done.text };
      };
      const { port } = new URL(url);
      // The check of the image, with the port that was free.
      const env = ['/usr/bin/node', '-e', `process.env.PORT = '${port}'; import('/app/health.js')`];
      assert.deepEqual(await inside(env), { code: 0, text: '' });
      const status = JSON.parse((await inside(['/usr/bin/node', '-e', STATUS])).text);
      assert.deepEqual(status, {
        ...{ uid: 10_001, caps: '0000000000000000', pid: '/usr/bin/node' },
        tried: ['EROFS', 'EROFS', 'EROFS'],
      });
      if (app.endsWith('compute')) {
        const { cpu, memory, tasks } = await (await fetch(`${url}/health`)).json();
        assert.deepEqual([cpu.limit, cpu.limitSource], [1.5, 'cgroup']);
        assert.equal(memory.totalBytes, 256 * 1024 * 1024);
        assert.equal(tasks.pool.maxThreads, 1);
        await worksAsWorker(t, prepared);
      }
      server.child.kill('SIGTERM');
      assert.equal(await server.exited, 0);
    });
  });
}

/** The same image with the command of the workers: a second process in the container, as the network is that of this machine. */
async function worksAsWorker(t, prepared) {
  const { url } = await natsServer(t, { jetstream: true });
  const { command: words, args } = manifest('Deployment', 'worker');
  const line = [`/usr/bin/${words[0]}`, ...words.slice(1), ...args, '--broker', url];
  const worker = run(t, prepared.exec(line));
  await until(() => worker.text.includes('takes tasks') || worker.child.exitCode !== null);
  assert.equal(worker.child.exitCode, null, worker.text);
  const client = new TaskClient({ broker: url, stream: args[args.indexOf('--stream') + 1] });
  const { digits } = await client.run({ n: 1000, algorithm: 'paper' }, { name: 'fibonacci' });
  assert.equal(digits, 209, worker.text);
  await client.close();
}

async function sizeOf(storage, tag) {
  const images = JSON.parse(await command('buildah', [...storage, 'images', '--json', tag]));
  const [, value, unit] = /([\d.]+) (\w+)/.exec(images[0].size);
  return Number(value) * { B: 1, KB: 1e3, MB: 1e6, GB: 1e9 }[unit.toUpperCase()];
}
