import { Pool, version } from '@millrace/pool';
import { main } from '../../../../scripts/lib/bundled/main.mjs';

main(async () => {
  const pool = new Pool({ filename: process.argv[2], maxThreads: 2 });
  const results = await Promise.all([1, 2, 3].map((n) => pool.run(n)));
  const failure = await pool.run(-1).catch((error) => error);
  await pool.close();
  return { version, results, failure: [failure.name, failure.message, failure.code] };
});
