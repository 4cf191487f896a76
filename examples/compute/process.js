/** Process of several, which main.js --cluster serves. */
import { onClose, onDrain } from '@millrace/cluster';
import { createService } from './service.js';
import { DRAIN_MS } from './settings.js';

/** Variable in which main.js leaves the options of the service. */
export const OPTIONS = 'MILLRACE_COMPUTE_OPTIONS';

export default async function start() {
  const log = (line) => console.error(`${process.pid}: ${line}`);
  const service = await createService({ ...JSON.parse(process.env[OPTIONS]), log });
  onDrain(() => {
    // They would never end by themselves.
    service.events.close();
    // And these take minutes. What is done soon is finished: a reload drains a process, too.
    setTimeout(() => service.giveUp(), DRAIN_MS).unref();
  });
  onClose(() => service.close());
  return service.server;
}
