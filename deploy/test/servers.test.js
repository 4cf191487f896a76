/** What the files say of the servers is so: they are started as a container starts them, and asked what the platforms ask. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { limits } from '../../examples/chat/limits.js';
import { which } from '../../scripts/lib/which.js';
import { container, folder, object, read, root, yaml } from './lib/files.js';
import { run, startImage, statusOf, temporaryFolder, until } from './lib/server.js';

const chat = container('Deployment', 'chat');
const probes = (spec) =>
  ['startupProbe', 'readinessProbe', 'livenessProbe'].map((name) => spec[name].httpGet);
const pathsOf = (spec) => probes(spec).map(({ path }) => path);

/** The arguments of a container for a folder of this machine, with a short delay. */
const local = (args, data) =>
  args.map((each) => ({ '/data': data, 10000: '300', 2000: '300' })[each] ?? each);

const health = (url) => [
  process.execPath,
  join(folder, 'image/health.js'),
  { PORT: new URL(url).port },
];

describe('the chat', () => {
  for (const [name, args] of [
    ['Kubernetes', chat.args],
    ['compose', yaml('compose.yaml').services.chat.command],
  ]) {
    test(`of ${name} answers the probes, is not ready while it drains, and ends`, async (t) => {
      const server = await startImage(
        t,
        'examples/chat',
        'server.js',
        local(args, await temporaryFolder(t)),
      );
      for (const path of [...pathsOf(chat), '/metrics']) {
        assert.equal(await statusOf(server.url, path), 200, path);
      }
      const [program, file, env] = health(server.url);
      assert.equal(await run(t, [program, file], env).exited, 0);
      server.child.kill('SIGTERM');
      await until(
        async () => (await statusOf(server.url, chat.readinessProbe.httpGet.path)) === 503,
      );
      assert.equal(await statusOf(server.url, chat.livenessProbe.httpGet.path), 200);
      assert.equal(await server.exited, 0);
      assert.equal(
        await run(t, [program, file], env).exited,
        1,
        'the health check of a server that is gone',
      );
    });
  }

  test('has all the time that it wants to end, wherever it runs', () => {
    const delay = (args) => Number(args[args.indexOf('--drain-delay') + 1]);
    // Commits; goodbyes, of a second at most; answers under way; the connection to the broker.
    const needed = (args) => delay(args) + limits.stopMs + 1000 + limits.stopMs + 2000;
    const { command, stop_grace_period } = yaml('compose.yaml').services.chat;
    assert.ok(needed(command) < Number.parseInt(stop_grace_period, 10) * 1000);
    const { terminationGracePeriodSeconds } = object('Deployment', 'chat').spec.template.spec;
    assert.ok(needed(chat.args) < terminationGracePeriodSeconds * 1000);
    const [, line] = /^ExecStart=(.*)$/m.exec(unit);
    const [, seconds] = /^TimeoutStopSec=(\d+)$/m.exec(unit);
    assert.ok(needed(line.split(' ')) < Number(seconds) * 1000);
    // And the probe notices before it is over.
    const { periodSeconds, failureThreshold, timeoutSeconds } = chat.readinessProbe;
    assert.ok((periodSeconds * failureThreshold + timeoutSeconds) * 1000 < delay(chat.args));
  });
});

const unit = read('systemd/millrace-chat.service');

test('the unit starts the chat, with options that it has', async (t) => {
  const [, line] = /^ExecStart=(.*)$/m.exec(unit);
  const [, file, ...args] = line.split(' ');
  const state = /^StateDirectory=(.*)$/m.exec(unit)[1];
  assert.ok(line.includes(`--data-dir /var/lib/${state} `));
  const own = args.map(
    (each) => ({ 8080: '0', 10000: '0', [`/var/lib/${state}`]: '' })[each] ?? each,
  );
  own[own.indexOf('--data-dir') + 1] = await temporaryFolder(t);
  const server = run(t, [process.execPath, join(root, file), ...own]);
  await until(() => server.text.includes('listening on') || server.child.exitCode !== null);
  assert.match(server.text, /^listening on http:\/\/127\.0\.0\.1:/);
  server.child.kill('SIGTERM');
  assert.equal(await server.exited, 0);
  assert.ok(Number(/^LimitNOFILE=(\d+)$/m.exec(unit)[1]) > limits.clients);
  if (!which('systemd-analyze')) return;
  const path = join(folder, 'systemd/millrace-chat.service');
  execFileSync('systemd-analyze', ['verify', '--man=no', path], { stdio: 'pipe' });
});

test('the compute service of App Engine answers the checks', async (t) => {
  const app = yaml('appengine/app.yaml');
  assert.deepEqual([app.runtime, app.env], ['custom', 'flex']);
  assert.equal(app.automatic_scaling.cpu_utilization.target_utilization, 0.8);
  const server = await startImage(t, 'examples/compute', 'main.js');
  for (const check of [app.liveness_check, app.readiness_check]) {
    assert.equal(await statusOf(server.url, check.path), 200, check.path);
  }
  const [program, file, env] = health(server.url);
  assert.equal(await run(t, [program, file], env).exited, 0);
  server.child.kill('SIGTERM');
  assert.equal(await server.exited, 0);
});
