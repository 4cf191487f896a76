/**
 * The command `build`: compiles the addon in the package, for a platform whose addon no package has ready, or with a compiler's options
 * of one's own. It is then loaded once, in another process, which a bad one may end.
 */
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import {
  type Options,
  optionLines,
  print,
  Refusal,
  readOptions,
  UsageError,
} from '@millrace/base/command';

const OPTIONS: Options = {
  seconds: { value: 'N', meaning: 'how long the compiler may take; 600 by default' },
};

const USAGE = `Usage: millrace build [options]

Compiles the addon of millrace where it is installed, with npm's node-gyp,
Python 3, make and a C compiler. You need it only where millrace doctor says
that no package has the addon ready. Repeat it after each installation.

  millrace build
  millrace build --seconds 1800

${optionLines(OPTIONS)}

Exit codes: 0 built, 1 not built, and why, 2 wrong command line.`;

const MOST_SECONDS = 86_400;

/** `millrace build`. */
export async function build(argv: readonly string[]): Promise<void> {
  const { values, rest } = readOptions(argv, OPTIONS);
  if (rest.length > 0) throw new UsageError(`build takes options only, not ${rest[0]}.`);
  if (values.help) return print(USAGE);
  const given = values.seconds ?? '600';
  const seconds = Number(given);
  if (!(Number.isInteger(seconds) && seconds >= 1 && seconds <= MOST_SECONDS)) {
    throw new UsageError(`--seconds is ${given}; it is a whole number from 1 to ${MOST_SECONDS}.`);
  }
  const folder = fileURLToPath(new URL('../..', import.meta.url));
  const gyp = createRequire(import.meta.url)(`${folder}addon/gyp.cjs`) as {
    build(seconds: number): string | null;
  };
  const fault = gyp.build(seconds) ?? loadFault();
  if (fault !== null) throw new Refusal(`the addon could not be built: ${fault}.`);
  print(`built ${folder}addon/build/Release/millrace.node`);
}

/** Returns the reason why the addon that is in place does not load; null when it does. */
function loadFault(): string | null {
  const { href } = new URL('../native/load.js', import.meta.url);
  const program = `import('${href}').then((m) => console.log(m.nativeError ?? ''), (e) => console.log(e.message))`;
  const env = { ...process.env, MILLRACE_NATIVE: '' };
  try {
    const options = { env, encoding: 'utf8' } as const;
    return execFileSync(process.execPath, ['-e', program], options).trim() || null;
  } catch (error) {
    return (error as Error).message;
  }
}
