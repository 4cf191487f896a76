// A client of durable tasks: OPTIONS of it.
import { TaskClient } from '@millrace/nats/tasks';
import { answer, say } from '../../talk.js';

const client = new TaskClient(JSON.parse(process.env.OPTIONS));
const results = [];
say('ready');
answer({
  /** Begins tasks; each number is the task. Says how many were stored as they are. */
  async enqueue({ from, count, options }) {
    for (let n = from; n < from + count; n++) {
      client.enqueue(n, options).then(
        () => say({ stored: n }),
        (error) => say({ refused: n, code: error.code }),
      );
      if (n % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  },
  run({ from, count, options }) {
    for (let n = from; n < from + count; n++) {
      results.push(client.run(n, options).then((result) => result === n));
    }
  },
  /** How many results were right, when all are there. */
  results: async () => (await Promise.all(results)).filter(Boolean).length,
  stats: () => client.stats(),
  close: () => client.close(),
});
