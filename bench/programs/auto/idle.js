/** An application that does nothing, with an emitter and a batch: `node idle.js [dashboard]` says the address of its dashboard, if any. */

import { monitor } from '@millrace/monitor';
import { BatchEmitter, batch } from 'millrace';
import { serveDashboard } from 'millrace/dashboard';

monitor();
const emitter = new BatchEmitter();
const load = batch(async (keys) => keys);
emitter.on('key', () => {});
await load(1);
const dashboard = process.argv[2] === 'dashboard' ? await serveDashboard({ port: 0 }) : null;
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send((user + system) / 1000);
});
process.once('disconnect', () => process.exit());
process.send({ url: dashboard?.url ?? null });
