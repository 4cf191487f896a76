import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Binding } from '../../native/binding.js';
import { type Finding, ok, type Place } from './finding.js';

/** The addon, or why there is none. */
export async function loadAddon(): Promise<Binding | string> {
  try {
    const { binding, nativeError } = await import('../../native/load.js');
    return binding ?? nativeError!;
  } catch (error) {
    return (error as Error).message;
  }
}

export async function addon(place: Place): Promise<Finding> {
  return addonOf(await loadAddon(), place);
}

/** What follows from the addon, or from the sentence why there is none. */
export function addonOf(loaded: Binding | string, { env, platform }: Place): Finding {
  const name = 'addon';
  if (typeof loaded !== 'string') {
    return ok(name, `loaded, of millrace ${loaded.package}, with libuv ${loaded.uv}`);
  }
  const found = `not loaded: ${loaded}`;
  const means =
    'the same behaviour in JavaScript: more system calls for fan-out and files, no larger reads, no records from threads';
  if (env.MILLRACE_NATIVE === '0') {
    const fix =
      platform === 'win32'
        ? 'remove MILLRACE_NATIVE from the environment'
        : 'unset MILLRACE_NATIVE';
    return { name, state: 'note', found, means, fix };
  }
  return {
    name,
    state: 'warning',
    found,
    means,
    fix: `npm rebuild millrace${before(platform, env)}`,
  };
}

/** What has to be done before a build. */
function before(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): string {
  // node-gyp looks for these in its own way.
  if (platform === 'win32') return '; it takes Python 3 and the C++ build tools of Visual Studio';
  const lacking = toolsWithout(env);
  if (lacking.length === 0) return '';
  if (platform === 'darwin') return ', after xcode-select --install';
  return `, after installing ${lacking.join(', ')}`;
}

/** What a build needs and is not found in PATH; of several programs that would do, the first. */
function toolsWithout({ PATH = '' }: NodeJS.ProcessEnv): string[] {
  const has = (program: string) =>
    PATH.split(delimiter).some((folder) => isProgram(join(folder, program)));
  return [['python3', 'python'], ['make'], ['cc', 'gcc', 'clang']]
    .filter((programs) => !programs.some(has))
    .map(([program]) => program!);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
