import { once } from 'node:events';
import { stalls } from '@millrace/monitor/stalls';
import { main } from '../../../../scripts/lib/bundled/main.mjs';

function blockUntil(end) {
  while (performance.now() < end);
}

main(async () => {
  // The watch keeps no process alive.
  const awake = setInterval(() => {}, 60_000);
  const watch = stalls({ log: false, probes: { port: 0 } });
  // The watchdog runs by then.
  await once(watch, 'probes');
  const over = once(watch, 'stall');
  // Longer than a thread without a CPU would need to take a sample.
  blockUntil(performance.now() + 3000);
  const [{ at }] = await over;
  watch.stop();
  clearInterval(awake);
  return { blocked: at?.function };
});
