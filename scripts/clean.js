/** `make clean`: removes what was installed or built, and the scripts' logs and stamps. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { madeFolders } from './lib/files.js';
import { root } from './lib/paths.js';

for (const folder of madeFolders('.')) {
  rmSync(join(root, folder), { recursive: true });
  console.log(`removed ${folder}`);
}
