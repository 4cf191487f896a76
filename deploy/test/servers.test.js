/** What the files say of the servers is so: they are started as a container starts them, and asked what the platforms ask. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { limits } from '../../examples/chat/limits.js';
import { temporaryFolder, until } from '../../scripts/lib/program-tests.js';
import { which } from '../../scripts/lib/which.js';
import { openClient } from '../scaler/test/lib/help.js';
import { container, folder, object, read, root, yaml } from './lib/files.js';
import { run, startImage, statusOf } from './lib/server.js';

const chat = container('Deployment', 'chat');
const probes = (spec) =>
  ['startupProbe', 'readinessProbe', 'livenessProbe'].map((name) => spec[name].httpGet);
/** Paths that the server itself answers; a watchdog has a port of its own. */
const pathsOf = (spec) =>
  probes(spec)
    .filter(({ port }) => port === 'http')
    .map(({ path }) => path);

/** The arguments of a container for a folder of this machine, with another delay. */
const local = (args, data, delayMs) => {
  const delay = String(delayMs);
  return args.map((each) => ({ '/data': data, 10000: delay, 2000: delay })[each] ?? each);
};

/** The status of its liveness probe once it is not ready any more; undefined if it has ended before that was seen. */
async function livenessWhileItDrains({ url }) {
  const { readinessProbe, livenessProbe } = chat;
  try {
    await until(async () => (await statusOf(url, readinessProbe.httpGet.path)) === 503);
    return await statusOf(url, livenessProbe.httpGet.path);
  } catch (error) {
    // Of fetch(), when nobody listens.
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

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
      for (let delayMs = 300; ; delayMs *= 8) {
        const server = await startImage(
          t,
          'examples/chat',
          'server.js',
          local(args, await temporaryFolder(t), delayMs),
        );
        for (const path of [...pathsOf(chat), '/metrics']) {
          assert.equal(await statusOf(server.url, path), 200, path);
        }
        const [program, file, env] = health(server.url);
        assert.equal(await run(t, [program, file], env).exited, 0);
        server.child.kill('SIGTERM');
        const liveness = await livenessWhileItDrains(server);
        assert.equal(await server.exited, 0);
        assert.equal(
          await run(t, [program, file], env).exited,
          1,
          'the health check of a server that is gone',
        );
        // Asked too late, it is started again with a longer delay.
        if (liveness === undefined && delayMs < 10_000) continue;
        assert.equal(liveness, 200);
        break;
      }
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

for (const name of ['chat', 'compute']) {
  test(`the unit of ${name} starts it, with options that it has`, async (t) => {
    const path = `systemd/millrace-${name}.service`;
    const text = read(path);
    const [, line] = /^ExecStart=(.*)$/m.exec(text);
    const [, file, ...args] = line.split(' ');
    const [, state] = /^StateDirectory=(.*)$/m.exec(text) ?? [];
    const places = { 8080: '0', 8090: '0', 10000: '0' };
    if (state !== undefined) places[`/var/lib/${state}`] = await temporaryFolder(t);
    const own = args.map((each) => places[each] ?? each);
    assert.equal(own.includes('--data-dir'), state !== undefined);
    const server = run(t, [process.execPath, join(root, file), ...own]);
    await until(() => server.text.includes('listening on') || server.child.exitCode !== null);
    assert.match(server.text, /^listening on http:\/\/127\.0\.0\.1:/);
    server.child.kill('SIGTERM');
    assert.equal(await server.exited, 0);
    assert.ok(Number(/^LimitNOFILE=(\d+)$/m.exec(text)[1]) > limits.clients);
    if (!which('systemd-analyze')) return;
    execFileSync('systemd-analyze', ['verify', '--man=no', join(folder, path)], { stdio: 'pipe' });
  });
}

test('the compute service answers the checks of App Engine and the probes of Kubernetes', async (t) => {
  const app = yaml('appengine/app.yaml');
  assert.deepEqual([app.runtime, app.env], ['custom', 'flex']);
  assert.equal(app.automatic_scaling.cpu_utilization.target_utilization, 0.8);
  const server = await startImage(t, 'examples/compute', 'main.js');
  const checks = [app.liveness_check.path, app.readiness_check.path];
  for (const path of [...checks, ...pathsOf(container('Deployment', 'compute'))]) {
    assert.equal(await statusOf(server.url, path), 200, path);
  }
  const [program, file, env] = health(server.url);
  assert.equal(await run(t, [program, file], env).exited, 0);
  server.child.kill('SIGTERM');
  assert.equal(await server.exited, 0);
});

describe('the scaler', () => {
  const { args } = container('Deployment', 'scaler');
  /** With another port, as several tests run at a time. */
  const start = (t, more = []) =>
    startImage(t, 'deploy/scaler', 'main.js', [
      ...args.map((each) => (each === '9090' ? '0' : each)),
      ...more,
    ]);

  const portOf = (server) => until(() => /KEDA calls \S+:(\d+)/.exec(server.text)?.[1]);

  test('answers the probes and Prometheus, and ends', async (t) => {
    const server = await start(t);
    for (const path of [...pathsOf(container('Deployment', 'scaler')), '/metrics']) {
      assert.equal(await statusOf(server.url, path), 200, path);
    }
    const [program, file, env] = health(server.url);
    assert.equal(await run(t, [program, file], env).exited, 0);
    server.child.kill('SIGTERM');
    assert.equal(await server.exited, 0);
  });

  test('knows the options of its container and the broker of its environment, and says what is wrong', async (t) => {
    const { env } = container('Deployment', 'scaler');
    const main = join(root, 'deploy/scaler/main.js');
    const ended = async (words, more = {}) => {
      const child = run(t, [process.execPath, main, ...words], more);
      return [await child.exited, child.text];
    };
    const [code, help] = await ended(['--help']);
    assert.equal(code, 0);
    for (const each of args.filter((word) => word.startsWith('--'))) assert.ok(help.includes(each));
    for (const { name } of env) assert.ok(help.includes(`$${name}`), name);
    const ports = ['--port', '0', '--grpc-port', '0'];
    for (const [words, wanted, more] of [
      [
        ['--interval', '5x'],
        /^millrace-scaler: --interval is "5x"; it must be a whole number from 100 to/,
      ],
      [['--intervall', '5'], /there is no --intervall\. Did you mean --interval\?/],
      [['chat'], /there is chat; it takes options only/],
      [[...ports, '--broker', 'http://a'], /--broker is .*it must be a URL as 'nats:/],
      [ports, /--broker is .*it must be a URL as 'nats:/, { [env[0].name]: 'http://a' }],
    ]) {
      const [exitCode, text] = await ended(words, more);
      assert.match(text, wanted);
      assert.equal(exitCode, 2, text);
    }
    const server = await start(t);
    const port = await portOf(server);
    const [exitCode, text] = await ended(['--port', '0', '--grpc-port', port]);
    assert.equal(exitCode, 1);
    assert.match(text, /^millrace-scaler: it cannot listen: .*EADDRINUSE/);
  });

  test('takes the triggers of the manifests, by their thresholds', async (t) => {
    const server = await start(t, ['--broker', 'nats://127.0.0.1:1']);
    const port = await portOf(server);
    const { spec } = openClient(t, port);
    for (const name of ['chat', 'worker']) {
      const { triggers } = object('ScaledObject', name, 'scale-external').spec;
      assert.equal(triggers.length, 3);
      for (const { metadata } of triggers) {
        const [{ metricName, targetSizeFloat }] = await spec(metadata);
        assert.deepEqual(
          [metricName, targetSizeFloat],
          [metadata.metric, Number(metadata.threshold)],
        );
      }
    }
  });
});
