import { natsAdapter } from '@millrace/nats/socket-io';
import { main } from '../../../../scripts/lib/bundled/main.mjs';

main(async () => {
  const adapter = natsAdapter({ broker: process.env.BROKER });
  const { code } = await adapter.ready().catch((error) => error);
  return { type: typeof adapter, stats: adapter.stats(), code };
});
