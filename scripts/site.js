/** `make site`: builds the site with VitePress and serves it. With OUT=folder it only builds, into that folder. */
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, relative, resolve } from 'node:path';
import { run } from './lib/child.js';
import { exitWith, Failure } from './lib/failure.js';
import { projectCache, root } from './lib/paths.js';
import { packages } from './lib/setup.js';
import { runOrExit } from './lib/steps.js';

const { OUT, PORT = '4173' } = process.env;
const folder = OUT ? resolve(OUT) : join(projectCache, 'site');
const vitepress = join(root, 'docs/site/node_modules/.bin/vitepress');

const build = {
  title: 'site',
  required: true,
  run: async (quiet) => {
    // VitePress empties the folder first.
    if (
      existsSync(folder) &&
      readdirSync(folder).length > 0 &&
      !existsSync(join(folder, '404.html'))
    ) {
      throw new Failure(`OUT is ${folder}, which has other files; name a new or an empty folder`);
    }
    await quiet(vitepress, ['build', 'docs/site', '--outDir', folder]);
    return relative(process.cwd(), folder) || '.';
  },
};

await runOrExit([packages(), packages('docs/site'), build]);
if (!OUT) {
  try {
    await checkPort();
    await run(vitepress, ['preview', 'docs/site', '--port', PORT], { cwd: root });
  } catch (error) {
    exitWith(error);
  }
}

/** @throws {Failure} unless the port is free */
async function checkPort() {
  const server = createServer();
  await new Promise((done, fail) => {
    server.once('error', ({ message }) =>
      fail(
        new Failure(`cannot serve the site: ${message}; choose another port: make site PORT=8080`),
      ),
    );
    server.listen(Number(PORT), done);
  });
  await new Promise((done) => server.close(done));
}
