// A client of durable tasks: OPTIONS of the pool.
import { Pool } from 'millrace/pool';
import { answer, say } from '../../../broker/talk.js';

const pool = new Pool(JSON.parse(process.env.OPTIONS));
pool.on('error', () => {});
const results = [];
say('ready');
answer({
  /** Begins tasks; each number is the task. Says how many were stored as they are. */
  async enqueue({ from, count, options }) {
    for (let n = from; n < from + count; n++) {
      pool.enqueue(n, options).then(
        () => say({ stored: n }),
        (error) => say({ refused: n, code: error.code }),
      );
      if (n % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  },
  run({ from, count, options }) {
    for (let n = from; n < from + count; n++) {
      results.push(pool.run(n, options).then((result) => result === n));
    }
  },
  /** How many results were right, when all are there. */
  results: async () => (await Promise.all(results)).filter(Boolean).length,
  stats: () => pool.stats(),
  close: () => pool.close(),
});
