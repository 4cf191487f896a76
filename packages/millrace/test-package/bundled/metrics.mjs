import { collect, exposition } from '@millrace/monitor/metrics';
import { batch } from 'millrace';
import { main } from './main.mjs';

main(async () => {
  await batch(async (items) => items)(1);
  const points = collect();
  return { has: points.length > 0, type: typeof exposition };
});
