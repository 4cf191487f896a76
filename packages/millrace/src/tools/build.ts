/**
 * The command `build`: compiles the addon, for a platform whose addon no package has ready, or with a compiler's options
 * of one's own. It is then loaded once, in another process, which a bad one may end. Few need it: the C is a package of its own,
 * which npm fetches for the build unless it is installed.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type Options,
  optionLines,
  print,
  Refusal,
  readOptions,
  UsageError,
} from '@millrace/base/command';
import { installed } from '@millrace/base/installed';
import { thisPackage } from '../package.cjs';

const OPTIONS: Options = {
  seconds: { value: 'N', meaning: 'how long the compiler may take; 600 by default' },
};

const USAGE = `Usage: millrace build [options]

Compiles the addon of millrace where it is installed, with npm's node-gyp,
Python 3, make and a C compiler. The C is in the package @millrace/source,
which npm fetches unless it is installed. You need it only where millrace
doctor says that no package has the addon ready. Repeat it after each
installation.

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
  const temporary = mkdtempSync(join(tmpdir(), 'millrace-'));
  try {
    const fault = compile(sources(temporary, seconds), seconds) ?? loadFault();
    if (fault !== null) throw notBuilt(fault);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
  print(`built ${target}`);
}

const own = fileURLToPath(new URL('../../addon', import.meta.url));
const built = 'build/Release/millrace.node';
const target = join(own, built);

const notBuilt = (why: string) => new Refusal(`the addon could not be built: ${why}.`);

/**
 * Returns the folder with `binding.gyp`: that of the clone, of the installed package, or of one that is fetched.
 *
 * @param temporary folder for a fetched one
 * @param seconds after which npm is stopped
 */
function sources(temporary: string, seconds: number): string {
  if (existsSync(join(own, 'binding.gyp'))) return own;
  const { version, places } = thisPackage;
  const name = '@millrace/source';
  const found = installed({ name, version, places: [...places, join(own, '../package.json')] });
  const folder = found.folder ?? fetched(`${name}@${version}`, temporary, seconds);
  return join(folder, 'packages/millrace/addon');
}

/** Fetches a package from the registry that the settings of npm name for the current folder. */
function fetched(name: string, to: string, seconds: number): string {
  const run = (command: string, args: string[]) => {
    const options = { encoding: 'utf8', stdio: 'pipe', timeout: seconds * 1000 } as const;
    // npm is a script there.
    const shell = process.platform === 'win32' && command === 'npm';
    execFileSync(command, shell ? args.map((arg) => `"${arg}"`) : args, { ...options, shell });
  };
  try {
    const archive = join(to, 'archive');
    mkdirSync(archive);
    run('npm', ['pack', name, '--pack-destination', archive]);
    const [file] = readdirSync(archive);
    run('tar', ['-xzf', join(archive, file!), '-C', to]);
    return join(to, 'package');
  } catch (error) {
    throw notBuilt(`${name} could not be fetched: ${reason(error as Failed)}`);
  }
}

type Failed = Error & { code?: string; stderr?: string };

/** Returns the most telling line of a program that failed. */
function reason({ message, code, stderr = '' }: Failed): string {
  if (code === 'ENOENT') return 'npm or tar is missing';
  if (code === 'ETIMEDOUT') return 'npm took too long';
  const line = /^npm (?:error|ERR!) (?!code )(.+)/m.exec(stderr)?.[1] ?? message.split('\n')[0]!;
  return line.trim().replace(/\.$/, '');
}

/** Compiles the addon and puts it where it is loaded from; returns the reason if it cannot. */
function compile(from: string, seconds: number): string | null {
  const gyp = createRequire(import.meta.url)(join(own, 'gyp.cjs')) as {
    build(folder: string, seconds: number): string | null;
  };
  const fault = gyp.build(from, seconds);
  if (fault !== null || from === own) return fault;
  // A node-gyp that made nothing is a fault of loading.
  if (!existsSync(join(from, built))) return null;
  mkdirSync(join(target, '..'), { recursive: true });
  rmSync(target, { force: true });
  copyFileSync(join(from, built), target);
  return null;
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
