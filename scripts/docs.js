/** `make docs`: writes the pages of docs/api anew. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { apiFolder, readApi } from './lib/docs.js';
import { exitWith } from './lib/failure.js';
import { root } from './lib/paths.js';

try {
  const { pages } = await readApi();
  const folder = join(root, apiFolder);
  rmSync(folder, { recursive: true, force: true });
  for (const [name, text] of pages) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  console.log(`${pages.size} pages in ${apiFolder}`);
} catch (error) {
  exitWith(error);
}
