import { adapterBase } from 'millrace/ws/socket-io';
import { main } from '../../../../scripts/lib/bundled/main.mjs';

main(async () => {
  const baseOf = adapterBase();
  try {
    baseOf({});
  } catch ({ code }) {
    return { code };
  }
});
