/**
 * Builds the image of an example, once, and runs it in a container, both without a daemon: for experiments. It has to be root, and
 * wants buildah and crun.
 *
 *     node deploy/container/start.js examples/compute main.js --threads 2
 *
 * What it prints is what the application prints; at SIGTERM the application ends, and then this. The image is kept in the cache of
 * the repository, by what it was made of.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { constants } from 'node:os';
import { join } from 'node:path';
import { files } from '../../scripts/lib/files.js';
import { projectCache, read } from '../../scripts/lib/paths.js';
import { build, storageIn } from './build.js';
import { command } from './command.js';
import { container } from './run.js';

const [app, main, ...args] = process.argv.slice(2);
const place = join(projectCache, 'containers');
const storage = storageIn(place);
const tag = `localhost/${app.replaceAll('/', '-')}:${contents()}`;

const isThere = await command('buildah', [...storage, 'inspect', '--type', 'image', tag]).then(
  () => true,
  () => false,
);
if (!isThere) await build({ storage, app, main, tag });
const { HOST = '127.0.0.1', PORT = '0', CPUS = '2' } = process.env;
const prepared = await container({
  storage,
  tag,
  place,
  args,
  env: { HOST, PORT },
  cpus: Number(CPUS),
});
const [program, ...words] = prepared.command;
const child = spawn(program, words, { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.once('exit', async (code, signal) => {
  await prepared.remove();
  process.exit(code ?? 128 + constants.signals[signal]);
});

/** A hash of all that the image is made of. */
function contents() {
  const hash = createHash('sha256');
  const paths = ['c/src', 'c/include', 'packages', 'deploy/image', app].flatMap(files);
  for (const path of [...paths, 'package-lock.json', 'deploy/Dockerfile']) hash.update(read(path));
  return hash.digest('hex').slice(0, 16);
}
