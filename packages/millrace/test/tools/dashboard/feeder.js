// A process or thread that feeds the dashboard at port and token, with one feature. With `ends` nothing
// keeps it alive, with `unreported` its report throws.
import { setTimeout as sleep } from 'node:timers/promises';
import { feedDashboard } from 'millrace/dashboard';
import { feature } from './support.js';

const [port, token, how] = process.argv.slice(2);
const report = () => {
  throw new Error('no report');
};
feedDashboard({
  port: Number(port),
  token,
  features: { fs: feature('fs') },
  ...(how === 'unreported' ? { report } : {}),
});
if (how === 'ends') {
  await sleep(300);
  process.disconnect();
} else {
  setInterval(() => {}, 1000);
  process.on('disconnect', () => process.exit());
}
