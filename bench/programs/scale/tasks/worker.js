/**
 * Worker for tasks: `node worker.js SUBJECT PLACE OPTIONS`. Told a number, it answers when so many more are done, with when that was, ms;
 * told `left`, how many are left.
 */
import { subjects } from './subjects.js';

const [subject, place, options] = process.argv.slice(2);
const lookMs = 2;
const worker = await subjects[subject].worker(place, JSON.parse(options));
const now = () => performance.timeOrigin + performance.now();
let before = 0;

process.on('message', async (many) => {
  if (many === 'left') return process.send(await worker.left());
  const timer = setInterval(() => {
    const done = worker.done();
    if (done < before + many) return;
    clearInterval(timer);
    before += many;
    process.send({ ended: now(), done });
  }, lookMs);
  return undefined;
});
process.on('disconnect', () => process.exit());
process.send({ ready: true });
