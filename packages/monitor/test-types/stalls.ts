// @millrace/monitor/stalls as its users' compilers see it.
import {
  type ProbeOptions,
  type Stall,
  type StallFrame,
  type StallOptions,
  type StallState,
  type StallStats,
  type Stalls,
  stalls,
  type WorkerStall,
} from '@millrace/monitor/stalls';

const probes: ProbeOptions = { port: 0, host: '::', readyAfter: 1, liveAfter: 2 };
const options: StallOptions = {
  limit: 50,
  interval: 50,
  log: 'json',
  linesPerMinute: 1,
  workers: 500,
  probes,
};
const watch: Stalls = stalls(options);
stalls({ log: false, workers: false, probes: false });
// @ts-expect-error: no format of that name
stalls({ log: 'xml' });

watch.on('stall', (stall: Stall) => {
  const frame: StallFrame | null = stall.at;
  const state: StallState = stall.state;
  // @ts-expect-error: read only
  stall.duration = 0;
  return [frame?.line, state];
});
watch.on('workerStall', ({ worker, task }: WorkerStall) => [worker.id.toFixed(), task?.usual]);
watch.on('probes', ({ host, port }) => [host.length, port.toFixed()]);
const [last]: Stall[] = watch.recent();
const { counts }: StallStats = watch.stats();
watch.ready(false);
watch.stop();

export { counts, last };
