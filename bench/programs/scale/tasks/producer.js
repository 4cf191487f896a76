/**
 * Producer of tasks: `node producer.js SUBJECT PLACE`. Told `{ bulk: n }` it hands in n at once, told `{ single: n }` one after another,
 * each when the one before it is stored, told `{ waits: [n, ms] }` n that
 * take so long; it answers with when it began and when all were stored, ms.
 */
import { subjects } from './subjects.js';

const [subject, place] = process.argv.slice(2);
const producer = await subjects[subject].producer(place);
const now = () => performance.timeOrigin + performance.now();

process.on('message', async ({ bulk, single, waits }) => {
  const began = now();
  if (bulk) await producer.bulk(Array.from({ length: bulk }, (_, n) => n));
  else if (waits) await producer.waits(...waits);
  else for (let n = 0; n < single; n += 1) await producer.single(n);
  process.send({ began, stored: now() });
});
process.on('disconnect', () => process.exit());
process.send({ ready: true });
