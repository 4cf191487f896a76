/** `node scrape-arm.js OBJECTS` sends the CPU ms of a scrape, with this many emitters and batches. */
import { createRequire } from 'node:module';
import { collect, prometheus } from '@millrace/monitor/metrics';
import { BatchEmitter, batch } from 'millrace';

const { Registry } = createRequire(import.meta.resolve('millrace/package.json'))('prom-client');
const scrapes = 200;

const kept = [];
for (let i = 0; i < Number(process.argv[2]); i++) {
  const load = batch(async (keys) => keys);
  await load(1);
  kept.push(load, new BatchEmitter());
}
const register = new Registry();
prometheus({ register });

async function cpuMs(scrape) {
  for (let i = 0; i < scrapes; i++) await scrape();
  const start = process.cpuUsage();
  for (let i = 0; i < scrapes; i++) await scrape();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000 / scrapes;
}

process.send({
  collect_cpu_ms: await cpuMs(collect),
  text_cpu_ms: await cpuMs(() => register.metrics()),
});
process.exit();
