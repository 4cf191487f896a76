import { getMemoryUsage, runWorkerTask } from '@millrace/cluster/r-load-balancer';
import { main } from '../../../../scripts/lib/bundled/main.mjs';

main(async () => {
  const { rss } = getMemoryUsage();
  const results = await Promise.all([1, 2].map((n) => runWorkerTask(process.argv[2], n)));
  return { measured: rss > 0, results };
});
