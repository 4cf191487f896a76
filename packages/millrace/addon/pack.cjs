/**
 * Before `npm pack` in the repository: copies libuvbatch into the package, which is compiled where it is installed. With
 * `--clean`, after it: takes the copy away.
 */
const { cpSync, existsSync, rmSync } = require('node:fs');
const { join } = require('node:path');
const { inRepository, root } = require('./sources.cjs');

function copy() {
  for (const path of ['dist/index.js', 'dist/uplot/LICENSE']) {
    if (existsSync(join(root, path))) continue;
    console.error(`millrace: ${path} is missing; run npm run build first`);
    process.exit(1);
  }
  for (const folder of ['include', 'src']) {
    cpSync(join(root, '../../c', folder), join(root, 'deps/uvbatch', folder), { recursive: true });
  }
}

if (inRepository) {
  rmSync(join(root, 'deps'), { recursive: true, force: true });
  if (process.argv[2] !== '--clean') copy();
}
