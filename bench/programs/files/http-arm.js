/** Arm of the HTTP case: `node http-arm.js SUBJECT FOLDER` starts the server and loads it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { commandOf, startChild } from '../../lib/child.js';
import { Visitors } from './visitors.js';

const [subject, folder] = process.argv.slice(2);
const [connections, warmupMs, measuredMs] = [100, 800, 800];

const server = await startChild(
  commandOf(new URL('./server.js', import.meta.url), [subject, folder]),
);
const visitors = new Visitors(server.first.port, connections);
await sleep(warmupMs);
await server.ask('start');
const [before, start, loop] = [
  visitors.answers,
  performance.now(),
  performance.eventLoopUtilization(),
];
await sleep(measuredMs);
const [answers, ms] = [visitors.answers - before, performance.now() - start];
const { utilization } = performance.eventLoopUtilization(loop);
const { cpu_us, wrong } = await server.ask('stop');
visitors.stop();
await server.stop();
process.send({
  reqs_per_s: (answers / ms) * 1000,
  cpu_us_per_req: cpu_us / answers,
  load: utilization,
  wrong: visitors.wrong ?? wrong,
});
process.disconnect();
