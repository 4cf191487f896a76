/** One process of several: what main.js --cluster serves. */
import { onClose, onDrain } from 'millrace/cluster';
import { createService } from './service.js';

/** Where main.js leaves the options of the service. */
export const OPTIONS = 'MILLRACE_COMPUTE_OPTIONS';

export default async function start() {
  const log = (line) => console.error(`${process.pid}: ${line}`);
  const service = await createService({ ...JSON.parse(process.env[OPTIONS]), log });
  // They would never end by themselves.
  onDrain(() => service.events.close());
  onClose(() => service.close());
  return service.app;
}
