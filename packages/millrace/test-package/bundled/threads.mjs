import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { api, include } from 'millrace/threads';
import { main } from '../../../../scripts/lib/bundled/main.mjs';

main(async () => {
  const hasHeader = include !== '' && existsSync(join(include, 'millrace.h'));
  return { hasHeader, api: typeof api() };
});
