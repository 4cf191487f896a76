/** What was started, and how. Read once, when the observation begins: an application may change it. */
import { isMainThread, threadId } from 'node:worker_threads';
import { relativePath } from './figures.js';

/** The application: how it was started, and for how long it was watched. */
export interface ApplicationReport {
  pid: number;
  /** 0 is the main thread. */
  thread: number;
  node: string;
  /** Options of Node.js, without those that load Millrace. */
  execArgv: string[];
  /** Path from the working directory; null when there is none, as with --eval. */
  file: string | null;
  args: string[];
  /** The environment variable PORT. */
  port: string | null;
}

export function application(): ApplicationReport {
  const [, file, ...args] = process.argv;
  return {
    pid: process.pid,
    thread: isMainThread ? 0 : threadId,
    node: process.version,
    execArgv: withoutMillrace(process.execArgv),
    file: file === undefined ? null : relativePath(file),
    args,
    port: process.env.PORT ?? null,
  };
}

const loaders = ['--import', '--require', '-r'];

function withoutMillrace(given: readonly string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i < given.length; i++) {
    const option = given[i]!;
    const takesNext = loaders.includes(option);
    const value = takesNext ? (given[i + 1] ?? '') : option;
    const isLoader = takesNext || loaders.some((each) => option.startsWith(`${each}=`));
    if (takesNext) i++;
    if (isLoader && isMillrace(value)) continue;
    kept.push(option, ...(takesNext ? [value] : []));
  }
  return kept;
}

/** By name, or by the path of this package. */
function isMillrace(value: string): boolean {
  return /millrace\/auto/.test(value) || /dist\/auto\/(index\.js|start\.cjs)$/.test(value);
}
