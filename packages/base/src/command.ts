/**
 * A command on a terminal: its options, its output, and its exit codes. 0: done; 1: it cannot be done; 2: the command line is
 * mistaken. Whatever the user can do something about is one sentence on stderr; an error of the program itself keeps its stack.
 *
 * Options are read by `parseArgs` of node:util, with messages that say what was meant. What may be in an option is for those who use it
 * to say: {@link asGiven} gives their message the name that the user has typed.
 */
import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { nearest } from '@millrace/base/schema';
import { wrapped } from './text.js';

/** A command line that is mistaken: one sentence that says how, and the exit code 2. */
export class UsageError extends Error {}

/** A command that is in order and cannot be carried out: one sentence, and the exit code 1. */
export class Refusal extends Error {}

/** Says on stderr what went wrong with a command, such as `millrace run`, and sets the exit code. Throws any other error. */
export function tell(command: string, error: unknown): void {
  if (!(error instanceof UsageError || error instanceof Refusal)) throw error;
  const isMistake = error instanceof UsageError;
  const help = isMistake ? ` See ${command} --help.` : '';
  console.error(`${command}: ${error.message}${help}`);
  process.exitCode = isMistake ? 2 : 1;
}

let isWatched = false;
let hasFailed = false;

/** Writes lines to stdout, which is watched from then on: an application that shares it may be started instead. */
export function print(text: string): void {
  watchOutput();
  console.log(text);
}

/** Watches stdout: a failed write to it is one sentence on stderr, and the exit code 1 instead of 0. */
export function watchOutput(): void {
  if (isWatched) return;
  isWatched = true;
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    // The reader, such as head, has all that it wanted.
    if (code === 'EPIPE' || hasFailed) return;
    hasFailed = true;
    const program = basename(process.argv[1] ?? '', '.js');
    console.error(`${program}: stdout cannot be written: ${message}.`);
  });
  process.on('exit', (code) => {
    if (hasFailed && code === 0) process.exitCode = 1;
  });
}

/** Option of a command. */
interface Option {
  /** Name of its value in the help; absent for a flag. */
  readonly value?: string;
  readonly meaning: string;
  /** One letter: `c` makes `-c 10` the same as `--connections 10`. */
  readonly short?: string;
  /** Heading in the help, above the first option of a group. */
  readonly heading?: string;
}

/** Options by name, without dashes, in the order of the help. */
export type Options = Readonly<Record<string, Option>>;

/** A command line that was read. */
export interface Given {
  /** For options with a value the last one given, for flags `true`. */
  readonly values: Readonly<Record<string, string | true>>;
  /** Arguments after the options, from the first one that is no option. */
  readonly rest: readonly string[];
  /** True if `--` stood before the rest. */
  readonly isCut: boolean;
}

const HELP: Options = { help: { meaning: 'this text', short: 'h' } };

/**
 * Reads options up to the first argument that is not one, or to `--`; what follows is not looked at.
 *
 * @throws {UsageError} an option is unknown, or has no value and needs one, or has one and takes none
 */
export function readOptions(argv: readonly string[], options: Options): Given {
  const values: Record<string, string | true> = {};
  for (const token of tokensOf(argv, options)) {
    if (token.kind !== 'option') {
      const isCut = token.kind === 'option-terminator';
      return { values, rest: argv.slice(isCut ? token.index + 1 : token.index), isCut };
    }
    values[token.name] = readValue(token, options);
  }
  return { values, rest: [], isCut: false };
}

/**
 * Reads options wherever they stand. `values` has all that were given, in order, for flags `true`; `rest` has the other arguments.
 *
 * @throws {UsageError} as {@link readOptions}
 */
export function readAllOptions(argv: readonly string[], options: Options) {
  const values: Record<string, (string | true)[]> = {};
  const rest: string[] = [];
  for (const token of tokensOf(argv, options)) {
    if (token.kind === 'positional') rest.push(token.value);
    if (token.kind !== 'option') continue;
    values[token.name] ??= [];
    values[token.name]!.push(readValue(token, options));
  }
  return { values, rest };
}

function tokensOf(argv: readonly string[], options: Options) {
  const config: NonNullable<ParseArgsConfig['options']> = {};
  for (const [name, { value, short }] of Object.entries({ ...options, ...HELP })) {
    config[name] = {
      type: value === undefined ? 'boolean' : 'string',
      ...(short !== undefined && { short }),
    };
  }
  return parseArgs({
    args: [...argv],
    options: config,
    strict: false,
    allowPositionals: true,
    tokens: true,
  }).tokens;
}

interface Token {
  readonly name: string;
  readonly rawName: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
}

function readValue({ name, rawName, value, inlineValue }: Token, options: Options): string | true {
  const known: Options = { ...options, ...HELP };
  if (!Object.hasOwn(known, name)) throw unknown(rawName, Object.keys(known));
  const needed = known[name]!.value;
  if (needed === undefined) {
    if (value === undefined) return true;
    throw new UsageError(`${rawName} takes no value, but has ${JSON.stringify(value)}.`);
  }
  if (value === undefined || value === '') {
    throw new UsageError(`${rawName} has no value; it takes ${needed}.`);
  }
  // Not a number below 0, nor a pattern such as -\d.
  if (!inlineValue && /^--?[a-z]/i.test(value)) {
    throw new UsageError(`${rawName} has no value, but takes ${needed}; what follows is ${value}.`);
  }
  return value;
}

function unknown(name: string, known: readonly string[]): UsageError {
  if (process.allowedNodeEnvironmentFlags.has(name)) {
    return new UsageError(`${name} is an option of Node.js; put -- before it.`);
  }
  const meant = nearest(name.replace(/^-+/, ''), known);
  if (meant !== undefined) return new UsageError(`there is no ${name}. Did you mean --${meant}?`);
  return new UsageError(`there is no ${name}.`);
}

/** A text of the command line as options take it: whether it is in range is for them to say. */
export const asValue = (text: string): string | number =>
  /^\d+$/.test(text) ? Number(text) : text;

/** The message of a refused option, with the flag that it came from: `--threads is "x"; it must be …`. */
export function asGiven(message: string, flags: Readonly<Record<string, string>> = {}): string {
  return message.replace(/^[^:]*: (?:options\.(\w+)|'(\w+)')/, (_, theirs, ours) => {
    const option = theirs ?? ours;
    return `--${flags[option] ?? option}`;
  });
}

/** Columns of a terminal for which help is written. */
const WIDTH = 80;

/** The lines of a help text. */
export function optionLines(options: Options): string {
  const rows = Object.entries({ ...options, ...HELP }).map(([name, option]) => {
    const { value, short, meaning, heading } = option;
    const letter = short === undefined ? '    ' : `-${short}, `;
    const left = `${letter}--${name}${value === undefined ? '' : ` ${value}`}`;
    return { left, meaning, above: heading === undefined ? '' : `${heading}:\n` };
  });
  const width = Math.max(...rows.map(({ left }) => left.length));
  return rows
    .map(({ left, meaning, above }, i) => {
      const lines = wrapped(meaning, WIDTH - width - 4).join(`\n${' '.repeat(width + 4)}`);
      return `${i > 0 && above !== '' ? '\n' : ''}${above}  ${left.padEnd(width)}  ${lines}`;
    })
    .join('\n');
}

/** Says that a file is not there, and which one was probably meant. */
export function absent(file: string, folder = 'a folder'): UsageError {
  const path = resolve(file);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    return new UsageError(`${file} is ${folder}; name a file in it.`);
  }
  const meant = nearest(basename(path), namesIn(dirname(path)));
  const hint = meant === undefined ? '' : ` Did you mean ${join(dirname(file), meant)}?`;
  return new UsageError(`there is no file ${file} in ${process.cwd()}.${hint}`);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
