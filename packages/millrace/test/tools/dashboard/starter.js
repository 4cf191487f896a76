// Does what auto does, and prints what it leaves in the environment. Nothing keeps it alive then, except its input with `waits`.
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { startDashboard } from 'millrace/dashboard';

await startDashboard(JSON.parse(process.argv[2]));
const { MILLRACE_FEED, MILLRACE_FEED_TOKEN } = process.env;
console.log(JSON.stringify({ MILLRACE_FEED, MILLRACE_FEED_TOKEN }));
if (process.argv[3] === 'waits') await once(process.stdin.resume(), 'end');
else await sleep(500);
