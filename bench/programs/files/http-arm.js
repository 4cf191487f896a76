/** Arm of the HTTP case: `node http-arm.js SUBJECT FOLDER` starts the server and loads it. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Visitors } from './visitors.js';

const [subject, folder] = process.argv.slice(2);
const [connections, warmupMs, measuredMs] = [100, 800, 800];

const server = fork(new URL('./server.js', import.meta.url), [subject, folder]);
const [{ port }] = await once(server, 'message');
const visitors = new Visitors(port, connections);
await sleep(warmupMs);
server.send('start');
await once(server, 'message');
const [before, start, loop] = [
  visitors.answers,
  performance.now(),
  performance.eventLoopUtilization(),
];
await sleep(measuredMs);
const [answers, ms] = [visitors.answers - before, performance.now() - start];
const { utilization } = performance.eventLoopUtilization(loop);
server.send('stop');
const [{ cpu_us, wrong }] = await once(server, 'message');
visitors.stop();
server.disconnect();
process.send({
  reqs_per_s: (answers / ms) * 1000,
  cpu_us_per_req: cpu_us / answers,
  load: utilization,
  wrong: visitors.wrong ?? wrong,
});
process.disconnect();
