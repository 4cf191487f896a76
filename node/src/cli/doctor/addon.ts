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

export async function addon({ env }: Place): Promise<Finding> {
  const name = 'addon';
  const loaded = await loadAddon();
  if (typeof loaded !== 'string') {
    return ok(name, `loaded, of millrace ${loaded.package}, with libuv ${loaded.uv}`);
  }
  const found = `not loaded: ${loaded}`;
  const means =
    'the same behaviour in JavaScript: more system calls for fan-out and files, no larger reads, no records from threads';
  if (env.MILLRACE_NATIVE === '0') {
    return { name, state: 'note', found, means, fix: 'unset MILLRACE_NATIVE' };
  }
  const lacking = toolsWithout(env);
  const first = lacking.length === 0 ? '' : `, after installing ${lacking.join(', ')}`;
  return { name, state: 'warning', found, means, fix: `npm rebuild millrace${first}` };
}

/** What a build takes and is not found in PATH; of several programs that would do, the first. */
function toolsWithout({ PATH = '' }: NodeJS.ProcessEnv): string[] {
  const has = (program: string) =>
    PATH.split(delimiter).some((folder) => isProgram(join(folder, program)));
  return [['python3', 'python'], ['make'], ['cc', 'gcc', 'clang']]
    .filter((programs) => process.platform !== 'win32' && !programs.some(has))
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
