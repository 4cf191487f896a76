import { TaskClient, TaskWorker } from '@millrace/nats/tasks';
import { main } from '../../../../scripts/lib/bundled/main.mjs';

main(async () => {
  const options = { broker: process.env.BROKER, stream: 'bundled' };
  const worker = new TaskWorker({ ...options, filename: process.argv[2], maxThreads: 1 });
  await worker.ready();
  const client = new TaskClient(options);
  const results = await Promise.all([1, 2, 3].map((n) => client.run(n)));
  const { stored } = client.stats();
  await Promise.all([client.close(), worker.close()]);
  return { results, stored };
});
