/** Options of a command, by `parseArgs` of node:util, with errors that say what was meant. */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { nearest } from '../core/schema.cjs';
import { UsageError } from './usage.js';

/** One option. */
interface Option {
  /** What its value is called in the help; absent for a flag. */
  readonly value?: string;
  readonly meaning: string;
}

/** By name, without dashes, in the order of the help. */
export type Options = Readonly<Record<string, Option>>;

/** What was given. */
export interface Given {
  /** For options with a value the last one given, for flags `true`. */
  readonly values: Readonly<Record<string, string | true>>;
  /** What follows the options, from the first argument that is not one. */
  readonly rest: readonly string[];
  /** Whether `--` stood before the rest. */
  readonly isCut: boolean;
}

const HELP: Options = { help: { meaning: 'this text (-h)' } };

/**
 * Reads options up to the first argument that is not one, or to `--`; what follows is not looked at.
 *
 * @throws {UsageError} an option is unknown, or has no value and needs one, or has one and takes none
 */
export function readOptions(argv: readonly string[], options: Options): Given {
  const known: Options = { ...options, ...HELP };
  const config: NonNullable<ParseArgsConfig['options']> = {};
  for (const [name, { value }] of Object.entries(known)) {
    config[name] = { type: value === undefined ? 'boolean' : 'string' };
  }
  config.help = { type: 'boolean', short: 'h' };
  const { tokens } = parseArgs({
    args: [...argv],
    options: config,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const values: Record<string, string | true> = {};
  for (const token of tokens) {
    if (token.kind !== 'option') {
      const isCut = token.kind === 'option-terminator';
      return { values, rest: argv.slice(isCut ? token.index + 1 : token.index), isCut };
    }
    values[token.name] = readValue(token, known);
  }
  return { values, rest: [], isCut: false };
}

interface Token {
  readonly name: string;
  readonly rawName: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
}

function readValue({ name, rawName, value, inlineValue }: Token, known: Options): string | true {
  if (!Object.hasOwn(known, name)) throw unknown(rawName, Object.keys(known));
  const needed = known[name]!.value;
  if (needed === undefined) {
    if (value === undefined) return true;
    throw new UsageError(`${rawName} takes no value, but has ${JSON.stringify(value)}.`);
  }
  if (value === undefined || value === '') {
    throw new UsageError(`${rawName} has no value; it takes ${needed}.`);
  }
  if (!inlineValue && value.startsWith('-')) {
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

/** The lines of a help text. */
export function optionLines(options: Options): string {
  const rows = Object.entries({ ...options, ...HELP }).map(([name, { value, meaning }]) => ({
    left: `--${name}${value === undefined ? '' : ` ${value}`}`,
    meaning,
  }));
  const width = Math.max(...rows.map(({ left }) => left.length));
  return rows.map(({ left, meaning }) => `  ${left.padEnd(width)}  ${meaning}`).join('\n');
}
