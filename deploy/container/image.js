/** The image of an example, built once, and kept in the cache of the repository by what it was made of. It has to be root, and wants buildah. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { files } from '../../scripts/lib/files.js';
import { projectCache, read } from '../../scripts/lib/paths.js';
import { build, storageIn } from './build.js';
import { command } from './command.js';

/**
 * @param {{ app: string, main: string }} options folder of the application, relative to the root, and its file
 * @returns {Promise<{ place: string, storage: string[], tag: string }>} where it is kept, the flags of buildah for that, its name
 * @throws {Error} with what buildah said
 */
export async function imageOf({ app, main }) {
  const place = join(projectCache, 'containers');
  const storage = storageIn(place);
  const tag = `localhost/${app.replaceAll('/', '-')}:${contents(app)}`;
  const isThere = await command('buildah', [...storage, 'inspect', '--type', 'image', tag]).then(
    () => true,
    () => false,
  );
  if (!isThere) await build({ storage, app, main, tag });
  return { place, storage, tag };
}

/** A hash of all that the image is made of. */
function contents(app) {
  const hash = createHash('sha256');
  const paths = ['c/src', 'c/include', 'packages', 'deploy/image', app].flatMap(files);
  for (const path of [...paths, 'package-lock.json', 'deploy/Dockerfile']) hash.update(read(path));
  return hash.digest('hex').slice(0, 16);
}
