/** The modules that an import loads, for tests of how many they are. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const program = fileURLToPath(new URL('./loads.mjs', import.meta.url));
const built = new RegExp(`^${new URL('../../', import.meta.url).href}(\\w+)/dist/(.*)`);

/** The modules of our packages that an import loads, in a process of its own: `base/turn.cjs`. */
export async function loaded(specifier) {
  const { stdout } = await promisify(execFile)(process.execPath, [program, specifier]);
  const urls = new Set(JSON.parse(stdout));
  return [...urls].flatMap((url) => built.exec(url)?.slice(1).join('/') ?? []);
}
