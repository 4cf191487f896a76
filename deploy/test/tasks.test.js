/** The broker and the workers of the manifests, together: what is scaled on is there under its name, and a worker that stops loses nothing. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { TaskClient } from '@millrace/nats/tasks';
import { until } from '../../scripts/lib/program-tests.js';
import { container, object, read, root, yaml } from './lib/files.js';
import { startNats, unable } from './lib/nats.js';
import { run, statusOf } from './lib/server.js';

const worker = container('Deployment', 'worker');
const option = (name) => worker.args[worker.args.indexOf(name) + 1];
const stream = option('--stream');
const big = { n: 150_000, algorithm: 'paper' };
const patient = { storeTimeout: 100_000, closeTimeout: 600_000 };

/** Starts what the container runs, in the folder that the image has it in, until it takes tasks. */
async function startWorker(t, url) {
  const [program, ...words] = worker.command;
  assert.equal(program, 'node');
  const env = Object.fromEntries(worker.env.map(({ name }) => [name, url]));
  const server = run(t, [process.execPath, ...words, ...worker.args], env, root);
  await until(() => server.text.includes('takes tasks') || server.child.exitCode !== null);
  assert.equal(server.child.exitCode, null, server.text);
  return server;
}

function openClient(t, broker) {
  // A broker that is slow is no broker that is gone.
  const client = new TaskClient({ broker, stream, ...patient });
  t.after(() => client.destroy());
  return client;
}

/** What KEDA reads for its trigger `nats-jetstream`, and takes for the lag of a consumer. */
async function lagOf(monitor, { account, stream: name, consumer }) {
  const query = `acc=${account}&consumers=true&config=true`;
  const { account_details: accounts } = await (await fetch(`${monitor}/jsz?${query}`)).json();
  const details = accounts
    .find((each) => each.name === account)
    .stream_detail.find((each) => each.name === name)
    ?.consumer_detail.find((each) => each.name === consumer);
  return details && details.num_pending + details.num_ack_pending;
}

const triggers = object('ScaledObject', 'worker', 'scale-load').spec.triggers.map(
  ({ metadata }) => metadata,
);

describe('workers', { skip: unable }, () => {
  test('as Kubernetes starts them run tasks, and end with those that have begun', async (t) => {
    const { url } = await startNats(t);
    let server = await startWorker(t, url);
    const client = openClient(t, url);
    const { digits } = await client.run({ n: 1000, algorithm: 'paper' }, { name: 'fibonacci' });
    assert.equal(digits, 209);
    for (let round = 1; ; round += 1) {
      // More than it has threads; each message is a task of its own.
      const ids = Array.from({ length: 8 }, (_, n) => `task ${round} ${n}`);
      let done = 0;
      const results = ids.map((id) =>
        client.run(big, { name: 'fibonacci', id }).finally(() => {
          done += 1;
        }),
      );
      await Promise.race(results);
      server.child.kill('SIGTERM');
      assert.equal(await server.exited, 0);
      const given = Number(/(\d+) given back/.exec(server.text)[1]);
      const { text } = server;
      const doneBefore = done;
      // Another one has the rest.
      server = await startWorker(t, url);
      assert.equal(new Set((await Promise.all(results)).map(({ last }) => last)).size, 1);
      // Told too late, a worker has done all of them.
      if (given === 0 && round < 5) continue;
      assert.ok(given > 0 && doneBefore < ids.length, text);
      break;
    }
  });

  test('the lag that is scaled on is that of streams and consumers that Millrace makes', async (t) => {
    const { url, monitor } = await startNats(t);
    const server = await startWorker(t, url);
    for (const trigger of triggers)
      assert.equal(await lagOf(monitor, trigger), 0, trigger.consumer);
    server.child.kill('SIGTERM');
    assert.equal(await server.exited, 0);
    const client = openClient(t, url);
    for (const [n, { consumer }] of triggers.entries()) {
      for (let i = 0; i <= n; i += 1) {
        const id = `${consumer} ${i}`;
        await client.enqueue({ n: 10 }, { name: 'fibonacci', priority: consumer, id });
      }
    }
    for (const [n, trigger] of triggers.entries()) {
      assert.equal(await lagOf(monitor, trigger), n + 1, trigger.consumer);
    }
    assert.equal(await lagOf(monitor, { ...triggers[0], consumer: 'urgent' }), undefined);
  });

  test('are distinguished from strangers by the token, and the broker answers its probes', async (t) => {
    const { url, monitor } = await startNats(t);
    const { startupProbe, readinessProbe, livenessProbe, ports } = container('StatefulSet', 'nats');
    for (const { containerPort } of ports) {
      assert.match(read('kubernetes/nats/nats.conf'), new RegExp(`\\b${containerPort}$`, 'm'));
    }
    for (const { httpGet } of [startupProbe, readinessProbe, livenessProbe]) {
      assert.equal(await statusOf(monitor, httpGet.path), 200, httpGet.path);
    }
    const stranger = openClient(t, url.replace('a-token', 'a-guess'));
    await assert.rejects(stranger.enqueue({ n: 1 }, { name: 'fibonacci' }), {
      code: 'MILLRACE_E_BROKER',
    });
    const varz = await (await fetch(`${monitor}/varz`)).json();
    assert.equal(varz.jetstream.config.max_storage, 1024 ** 3);
    const [mount] = yaml('compose.yaml').services.nats.volumes[0].split(':');
    assert.equal(mount, './kubernetes/nats/nats.conf');
  });
});

test('the command of the workers knows its options, and has time to end', () => {
  const [, cli, command] = worker.command;
  const help = execFileSync(process.execPath, [join(root, cli), command, '--help'], {
    encoding: 'utf8',
  });
  for (const each of worker.args.filter((word) => word.startsWith('--'))) {
    assert.ok(help.includes(each), each);
  }
  for (const { name } of worker.env) assert.ok(help.includes(`$${name}`), name);
  const { terminationGracePeriodSeconds } = object('Deployment', 'worker').spec.template.spec;
  // Results are told, and the connection is drained, after that.
  assert.ok(Number(option('--close-timeout')) + 10_000 < terminationGracePeriodSeconds * 1000);
});
