import { pipelined } from 'millrace/pg';
import { main } from '../../../../scripts/lib/bundled/main.mjs';

main(async () => {
  try {
    return pipelined({});
  } catch ({ code }) {
    return { code };
  }
});
