/** The cost of one request to a server in system calls and in bytes of the heap: `node count-arm.js PLAN`, one arm of one round. */

import { ClosedLoop } from './closed-loop.js';
import { startServer } from './load.js';
import { countSyscalls } from './syscalls.js';

const { command, connections, count, syscalls } = JSON.parse(process.argv[2]);
const { pid, port, died, ask, stop } = await startServer({ command });
const loop = new ClosedLoop(port, connections);
await loop.connect();
const load = () => Promise.race([loop.run(count), died]);

await load();
const { used } = await ask('collect');
await load();
const heap = await ask('heap');
if (heap.collections > 0)
  loop.wrong ??= `the heap was collected ${heap.collections} times meanwhile`;
const sample = { allocated_bytes_per_req: (heap.used - used) / count };
if (syscalls) {
  const calls = await countSyscalls(pid, load);
  const all = Object.values(calls).reduce((a, b) => a + b, 0);
  Object.assign(sample, { syscalls_per_req: all / count, calls });
}
const { answers, shed, wrong } = loop;
process.send({ ...sample, answers, shed, wrong });
loop.close();
await stop();
process.disconnect();
