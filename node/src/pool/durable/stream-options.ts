/** The option `stream`: a name, or a name and what the stream may hold. */
import { check, checkKeys, integer, invalid } from '../../core/options.js';

/** A stream of durable tasks. Whoever comes first creates it; bounds that are given must be those that it has. */
export interface StreamOptions {
  /** 1 to 64 letters, digits, `-` and `_`; it must not end in `_dead`. */
  name: string;
  /** Bytes of tasks that it holds: 65,536 to 2^53 - 1. Default: 512 MiB. The stream of dead letters holds a quarter of it. */
  maxBytes?: number;
  /** Messages that it holds, each of one task or of a pack of them: 1 to 2^53 - 1. Default: no bound but `maxBytes`. */
  maxMessages?: number;
  /** Time in ms in which a second task of the same `id` is a duplicate: 1000 to 86,400,000. Default: 120,000. */
  duplicateWindow?: number;
  /** How often it is held, each time by another server of a cluster: 1 to 5. Default: 1. */
  replicas?: number;
}

/** The same with its defaults. */
export interface StreamSettings {
  readonly name: string;
  readonly maxBytes: number;
  /** -1: without a bound. */
  readonly maxMessages: number;
  readonly duplicateWindow: number;
  readonly replicas: number;
  /** What the user has said: the rest is not compared with a stream that is there. */
  readonly given: ReadonlySet<string>;
}

const rules = {
  maxBytes: integer(65_536, Number.MAX_SAFE_INTEGER),
  maxMessages: integer(1, Number.MAX_SAFE_INTEGER),
  duplicateWindow: integer(1000, 86_400_000),
  replicas: integer(1, 5),
};

/** Throws MILLRACE_E_INVALID_OPTION. */
export function streamSettings(given: string | StreamOptions | undefined): StreamSettings {
  const options = typeof given === 'string' || given === undefined ? { name: given } : given;
  checkKeys("option 'stream'", options, ['name', ...Object.keys(rules)]);
  const { name, ...bounds } = options;
  if (typeof name !== 'string' || !/^[\w-]{1,64}$/.test(name) || name.endsWith('_dead')) {
    throw invalid(
      'stream',
      name,
      'a name of 1 to 64 letters, digits, - and _, without _dead at its end',
    );
  }
  const said = Object.entries(bounds).filter(([, value]) => value !== undefined);
  for (const [key, value] of said) check(`stream.${key}`, value, rules[key as keyof typeof rules]);
  return {
    maxBytes: 512 * 1024 * 1024,
    maxMessages: -1,
    duplicateWindow: 120_000,
    replicas: 1,
    ...(Object.fromEntries(said) as Partial<StreamSettings>),
    name,
    given: new Set(said.map(([key]) => key)),
  };
}
