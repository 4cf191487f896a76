import { announce } from '@millrace/base/sources';
import { collect, exposition } from '@millrace/monitor/metrics';
import { main } from '../../../../scripts/lib/bundled/main.mjs';

main(async () => {
  const object = { connections: 2 };
  announce('enlarge', object, (each) => each);
  const [{ name, value }] = collect();
  return { name, value, type: typeof exposition };
});
