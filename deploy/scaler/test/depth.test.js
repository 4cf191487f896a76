/** The depth of durable tasks, by a real broker. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { status } from '@grpc/grpc-js';
import { TaskClient, TaskWorker } from '@millrace/nats/tasks';
import { natsServer, unable } from '../../../packages/nats/test/nats.js';
import { openScaler, until } from './lib/help.js';

const depth = (more = {}) => ({ metric: 'task-depth', stream: 'compute', ...more });
const filename = fileURLToPath(new URL('fixtures/tasks.js', import.meta.url));

async function store(t, broker, count, options = {}) {
  const patient = { storeTimeout: 100_000, closeTimeout: 600_000 };
  const client = new TaskClient({ broker, stream: 'compute', ...patient });
  t.after(() => client.destroy());
  for (let n = 0; n < count; n += 1) {
    await client.enqueue(n, { name: 'double', id: `${options.priority} ${n}`, ...options });
  }
  await client.close();
}

describe('task-depth', { skip: unable }, () => {
  test('is that of the stream, by priority, before there is a worker and until the tasks are done', async (t) => {
    const server = await natsServer(t, { jetstream: true });
    const broker = { servers: server.url };
    const { value, isActive } = await openScaler(t, { broker });
    const missing =
      /^tasks of compute has not answered yet: there is no stream compute of tasks; the first client/;
    await until(() => value(depth()).catch(({ details }) => missing.test(details)));
    await store(t, server.url, 3, { priority: 'high' });
    await store(t, server.url, 2, { priority: 'low' });
    await until(() =>
      value(depth()).then(
        (found) => found === 5,
        () => false,
      ),
    );
    assert.equal(await value(depth({ priority: 'high' })), 3);
    assert.equal(await value(depth({ priority: 'normal' })), 0);
    assert.equal(await value(depth({ priority: 'low' })), 2);
    assert.equal(await isActive(depth()), true);
    assert.equal(await isActive(depth({ priority: 'normal' })), false);
    assert.equal(await isActive(depth({ activationThreshold: '5' })), false);
    const worker = new TaskWorker({
      broker: server.url,
      stream: 'compute',
      filename,
      maxThreads: 1,
    });
    t.after(() => worker.close());
    await until(async () => (await value(depth())) === 0);
    assert.equal(await isActive(depth()), false);
  });

  test('is held while the broker is away, then unavailable, and comes back with it', async (t) => {
    const server = await natsServer(t, { jetstream: true });
    await store(t, server.url, 4);
    const broker = { servers: server.url, connectTimeout: 1000 };
    const { value, pass, lines } = await openScaler(t, { broker });
    // It said as often that the broker is back as that it is away.
    const isUp = (found) => found === 4 && lines.length % 2 === 0;
    await until(() => value(depth()).then(isUp, () => false));
    lines.length = 0;
    await server.kill();
    await until(() => lines.length > 0);
    assert.match(lines[0], /^away: tasks of compute: .+; what it said last counts for 60 s$/);
    assert.equal(await value(depth()), 4);
    pass(61_000);
    await assert.rejects(value(depth()), {
      code: status.UNAVAILABLE,
      details: /^tasks of compute has not answered for \d+ s, and its value counts for 60 s: /,
    });
    await server.start();
    await until(() => lines.length > 1);
    assert.equal(lines[1], 'back: tasks of compute');
    assert.equal(await value(depth()), 4);
  });

  test('a broker that cannot be one is refused before the scaler listens', async (t) => {
    await assert.rejects(openScaler(t, { broker: { servers: 'http://nats' } }), {
      code: 'MILLRACE_E_INVALID_OPTION',
    });
  });
});
