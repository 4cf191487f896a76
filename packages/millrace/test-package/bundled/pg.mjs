import { pipelined } from 'millrace/pg';
import { main } from '../../../../scripts/lib/bundled/main.mjs';

main(() => {
  try {
    return pipelined({});
  } catch ({ code }) {
    return { code };
  }
});
