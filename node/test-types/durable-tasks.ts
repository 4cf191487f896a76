// Durable tasks as users of the package see them.
import {
  type Enqueued,
  Pool,
  serveTasks,
  type TaskContext,
  type TaskLag,
  type TaskServer,
  type WorkerOptions,
} from 'millrace/pool';

interface Image {
  path: string;
}

const pool = new Pool<Image, number>({
  broker: { servers: ['nats://a', 'nats://b'], namespace: 'shop' },
  stream: { name: 'images', maxBytes: 1e9, replicas: 3 },
  attempts: 3,
});
const width: Promise<number> = pool.run({ path: 'a' }, { name: 'width', id: 'a', attempts: 2 });
const stored: Promise<Enqueued> = pool.enqueue({ path: 'a' }, { priority: 'low', id: 'a' });
const resent: number | undefined = pool.stats().durable?.resent;
// @ts-expect-error: nobody waits that could abort it
void pool.enqueue({ path: 'a' }, { signal: new AbortController().signal });
// @ts-expect-error: it is no image
void pool.enqueue(1);

const options: WorkerOptions = {
  broker: 'nats://a',
  stream: 'images',
  filename: 'tasks.js',
  maxThreads: 2,
  backoff: [100, 1000],
};
const server: Promise<TaskServer> = serveTasks(options);
void server.then(async (worker) => {
  worker.on('dead', ({ id, error, delivery }) => [id, error, delivery]);
  worker.on('down', ({ code }) => code === 'MILLRACE_E_BROKER');
  const lag: TaskLag = await worker.lag();
  const waiting: number = lag.high.pending + lag.alone.pending + lag.dead;
  const given: number = worker.stats().results.givenUp;
  await worker.close();
  return [waiting, given];
});
// @ts-expect-error: attempts say that
void serveTasks({ broker: 'nats://a', stream: 's', retry: 1 });
// @ts-expect-error: which stream?
void serveTasks({ broker: 'nats://a' });

const handler = (task: Image, { id, delivery }: TaskContext): string =>
  `${task.path} ${id} ${delivery}`;

void [width, stored, resent, handler];
