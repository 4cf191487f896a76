// A process or thread that feeds the dashboard at port and token, with one feature. With `ends` nothing keeps it alive.
import { setTimeout as sleep } from 'node:timers/promises';
import { feedDashboard } from 'millrace/dashboard';
import { feature } from './support.js';

const [port, token, ends] = process.argv.slice(2);
feedDashboard({ port: Number(port), token, features: { fs: feature('fs') } });
if (ends) {
  await sleep(300);
  process.disconnect();
} else {
  setInterval(() => {}, 1000);
  process.on('disconnect', () => process.exit());
}
