// Durable tasks as users of the package see them.
import {
  type DeadLetter,
  type Enqueued,
  TaskClient,
  type TaskClientOptions,
  type TaskClientStats,
  type TaskLag,
  TaskOperator,
  TaskWorker,
  type TaskWorkerOptions,
} from '@millrace/nats/tasks';
import { Pool, type TaskContext } from '@millrace/pool';

interface Image {
  path: string;
}

const connection: TaskClientOptions = {
  broker: { servers: ['nats://a', 'nats://b'], namespace: 'shop' },
  stream: { name: 'images', maxBytes: 1e9, replicas: 3 },
  attempts: 3,
};
const client = new TaskClient<Image, number>(connection);
const width: Promise<number> = client.run({ path: 'a' }, { name: 'width', id: 'a', attempts: 2 });
const stored: Promise<Enqueued> = client.enqueue({ path: 'a' }, { priority: 'low', id: 'a' });
const stats: TaskClientStats = client.stats();
// @ts-expect-error: nobody waits that could abort it
void client.enqueue({ path: 'a' }, { signal: new AbortController().signal });
// @ts-expect-error: it is not an image
void client.enqueue(1);
// @ts-expect-error: which stream?
void new TaskClient({ broker: 'nats://a' });
// @ts-expect-error: a pool knows no broker
void new Pool({ broker: 'nats://a' });

const options: TaskWorkerOptions = {
  broker: 'nats://a',
  stream: 'images',
  filename: 'tasks.js',
  maxThreads: 2,
  backoff: [100, 1000],
};
const worker: Promise<TaskWorker> = new TaskWorker(options).ready();
void worker.then(async (worker) => {
  worker.on('dead', ({ id, error, delivery }) => [id, error, delivery]);
  worker.on('down', ({ code }) => code === 'MILLRACE_E_BROKER');
  const lag: TaskLag = await worker.lag();
  const waiting: number = lag.high.pending + lag.alone.pending + lag.dead;
  const given: number = worker.stats().results.givenUp;
  await worker.close();
  return [waiting, given];
});
void new TaskWorker({ broker: 'nats://a', stream: 's', pool: new Pool<Image, number>() });
// @ts-expect-error: attempts say that
void new TaskWorker({ broker: 'nats://a', stream: 's', retry: 1 });
// @ts-expect-error: which stream?
void new TaskWorker({ broker: 'nats://a' });

const handler = (task: Image, { id, delivery }: TaskContext): string =>
  `${task.path} ${id} ${delivery}`;

void [width, stored, stats.resent, handler];

const operator = new TaskOperator({ servers: 'nats://a', namespace: 'shop' }, 'images');
void operator.lag().then(({ low, dead }): number => low.unacknowledged + dead);
void operator.retryDead().then((count: number) => count);
const letters: AsyncGenerator<DeadLetter> = operator.dead();
void letters.next().then(({ value }) => value?.deliveries);
// @ts-expect-error: which stream?
void new TaskOperator('nats://a');
