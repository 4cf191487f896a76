/** `make site`: writes the documents as a static site, into .cache/site or into the folder OUT. */
import { join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Failure } from './lib/failure.js';
import { projectCache } from './lib/paths.js';
import { runOrExit } from './lib/steps.js';

const folder = process.env.OUT ? resolve(process.env.OUT) : join(projectCache, 'site');

const site = {
  title: 'site',
  run: async () => {
    const { makeSite } = await import('../docs/site/site.js');
    const { writeSite } = await import('../docs/site/write.js');
    const { files, pages, external, faults } = await makeSite();
    if (faults.length > 0) throw new Failure(faults.join('\n          '));
    writeSite(folder, files);
    const note = `${pages.length} pages, ${files.size} files, ${external.size} links to elsewhere`;
    return `${note} in ${relative(process.cwd(), folder) || '.'}`;
  },
};

await runOrExit([site]);
console.log(`\n${pathToFileURL(join(folder, 'index.html')).href}`);
