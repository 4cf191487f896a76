import { monitor } from '@millrace/monitor';
import { main } from '../../../../scripts/lib/bundled/main.mjs';

main(async () => {
  const watch = monitor();
  await new Promise((resolve) => setTimeout(resolve, 20));
  const { delay, utilization, loopDelay } = watch.health();
  watch.stop();
  return { measured: delay >= 0 && utilization >= 0 && loopDelay.count > 0 };
});
