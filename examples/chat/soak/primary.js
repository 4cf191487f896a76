/** The service: the chat in several processes, which share a port. The options are JSON in the first argument. */
import { serve } from '@millrace/cluster';
import { answer } from './preload.js';

const { port, workers } = JSON.parse(process.argv[2]);

const cluster = await serve(new URL('./member.js', import.meta.url), {
  ...{ host: '127.0.0.1', port, workers, startTimeout: 120_000 },
  args: [process.argv[2]],
});
const deaths = [];
cluster.on('death', ({ slot, pid, signal, code }) => deaths.push({ slot, pid, signal, code }));
answer('cluster', () => ({ ...cluster.stats(), deaths }));
console.log(`listening on http://127.0.0.1:${cluster.address.port}`);
