/**
 * The one parser of options, and the one grammar of its messages. A schema is a plain object with a descriptor for each option: its type,
 * range, unit and default. The types of the parsed options follow from it, and {@link FieldsOf} keeps it equal to the documented interface.
 *
 * - A bad value:     `batch(): 'maxBatch' is 0; it must be an integer from 1 to 1000000`
 * - An unknown name: `batch(): unknown option 'maxbatch' (is 'maxBatch' meant?); known are …`
 *
 * `undefined` counts as not given, `null` only where a schema says so. Unknown names are looked for first, then options are read in the order of
 * the schema, each once; the first mistake ends it. Nothing is converted: what a text means is the business of whoever reads the text.
 * Nothing here is mutable, and nothing is imported, so that every package and the CommonJS of millrace/auto can use it; which error is
 * thrown is decided by the caller: {@link parse} of options.cts for all but auto.
 */

/** Owner of options: its name in messages, and its errors for mistakes. */
export interface Owner {
  /** Beginning of its messages: `batch()`, `BatchEmitter.set()`, the path of a file. */
  readonly what: string;
  readonly error: (message: string) => Error;
}

/** Input type of a user; for the compiler alone. */
interface Takes<Value> {
  readonly input?: (value: Value) => Value;
}

/** Field of an option. `Value` is what a user may give, `Output` what comes of it, `Default` what it is when not given. */
export interface Field<Value, Output = Value, Default = undefined> extends Takes<Value> {
  readonly type: string;
  /** The way out, in words: it follows "it must be". */
  readonly wanted: string;
  readonly fits: (value: unknown) => boolean;
  /** Reads a value that fits, where it has fields itself. */
  readonly inside?: (value: unknown, path: string, owner: Owner) => unknown;
  readonly default?: unknown;
  readonly isRequired?: boolean;
  /** A bad value is not shown. */
  readonly isSecret?: boolean;
  /** Words a message as another library does, whose users may match it. */
  readonly message?: (name: string, shown: string, wanted: string) => string;
  readonly min?: number;
  readonly max?: number;
  readonly unit?: string | undefined;
  /** Types for the compiler alone. */
  readonly output?: () => [Output, Default];
}

type AnyField = Field<any, any, any>;
export type Fields = Readonly<Record<string, AnyField>>;

/** A field for each option of an interface, of exactly its type: `{ … } satisfies FieldsOf<BatchOptions>`. */
export type FieldsOf<Options> = {
  readonly [Name in keyof Options]-?: Takes<Exclude<Options[Name], undefined>>;
};

type InputOf<F> = F extends Field<infer Input, any, any> ? Input : never;
type OutputOf<F> = F extends Field<any, infer Output, any> ? Output : never;
type DefaultOf<F> = F extends Field<any, any, infer Default> ? Default : never;

/** Options as they are used. */
export type Parsed<F extends Fields> = {
  [Name in keyof F]: OutputOf<F[Name]> | DefaultOf<F[Name]>;
};

type RequiredName<F extends Fields> = {
  [Name in keyof F]: [DefaultOf<F[Name]>] extends [never] ? Name : never;
}[keyof F];

/** Options as they may be given. */
export type Input<F extends Fields> = {
  [Name in RequiredName<F>]: InputOf<F[Name]>;
} & { [Name in Exclude<keyof F, RequiredName<F>>]?: InputOf<F[Name]> };

/** The fields that are given. */
export type Given<F extends Fields> = { [Name in keyof F]?: OutputOf<F[Name]> };

/** Unknown names: refused, ignored, or refused where a known one is probably meant. */
export type Unknown = 'refused' | 'ignored' | 'misspelt';

export interface Schema<F extends Fields = any> {
  readonly fields: F;
  readonly names: readonly (keyof F & string)[];
  /** The fields in the order of `names`: calls are checked too, and a list is quicker. */
  readonly list: readonly AnyField[];
  readonly defaults: Readonly<Record<string, unknown>>;
  readonly unknown: Unknown;
  /** `null` counts as not given. */
  readonly isNullAbsent: boolean;
}

export function schema<F extends Fields>(
  fields: F,
  { unknown = 'refused', isNullAbsent = false }: { unknown?: Unknown; isNullAbsent?: boolean } = {},
): Schema<F> {
  const names = Object.keys(fields);
  const list = Object.values(fields);
  const defaults = Object.freeze(
    Object.fromEntries(names.map((name, i) => [name, list[i]!.default])),
  );
  // Without a prototype, so that 'constructor' is not a known name.
  const own = Object.assign(Object.create(null), fields) as F;
  return Object.freeze({ fields: own, names, list, defaults, unknown, isNullAbsent });
}

/** Returns all fields but these. */
export function omit<F extends Fields, Name extends keyof F & string>(
  fields: F,
  ...names: Name[]
): Omit<F, Name> {
  const others = Object.entries(fields).filter(([name]) => !names.includes(name as Name));
  return Object.fromEntries(others) as Omit<F, Name>;
}

// ---- descriptors

const most = Number.MAX_SAFE_INTEGER;
const digits = (value: number) => (value === most ? '2^53 - 1' : String(value));

function numeric(type: 'integer' | 'number', unit?: string) {
  const noun = type === 'integer' ? 'an integer' : 'a number';
  const end = unit === undefined ? '' : ` ${unit}`;
  return <Default extends number | undefined = undefined>(
    min: number,
    max: number,
    usual?: Default,
  ): Field<number, number, Default extends number ? number : undefined> => ({
    type,
    wanted: `${noun} from ${digits(min)} to ${digits(max)}${end}`,
    fits: (value) =>
      typeof value === 'number' &&
      value >= min &&
      value <= max &&
      (type === 'number' || Number.isInteger(value)),
    default: usual,
    min,
    max,
    unit,
  });
}

/** A whole number from `min` to `max`. */
export const integer = numeric('integer');
/** A number. */
export const number = numeric('number');
/** A time in ms. */
export const ms = numeric('number', 'ms');
/** A time in whole ms. */
export const wholeMs = numeric('integer', 'ms');
/** A size in bytes. */
export const bytes = numeric('integer', 'bytes');

/** A number above 0. */
export function above0(max: number, unit?: string): Field<number> {
  const end = unit === undefined ? '' : ` ${unit}`;
  return {
    type: 'number',
    wanted: `a number above 0, up to ${digits(max)}${end}`,
    fits: (value) => typeof value === 'number' && value > 0 && value <= max,
    max,
    unit,
  };
}

/** True or false. */
export function boolean<Default extends boolean | undefined = undefined>(
  usual?: Default,
): Field<boolean, boolean, Default extends boolean ? boolean : undefined> {
  const fits = (value: unknown) => typeof value === 'boolean';
  return { type: 'boolean', wanted: 'true or false', fits, default: usual };
}

const quoted = (value: unknown) => (typeof value === 'string' ? `'${value}'` : String(value));

/** Field with one of several values. */
export function choice<const Value, Default extends Value | undefined = undefined>(
  values: readonly Value[],
  usual?: Default,
): Field<Value, Value, Default extends undefined ? undefined : Value> {
  const all = values.map(quoted).join(', ');
  return {
    type: 'choice',
    wanted: values.length === 1 ? all : `one of ${all}`,
    fits: (value) => values.includes(value as Value),
    default: usual,
  };
}

/** A text; `wanted` and `is` narrow what it may be. */
export function text(
  wanted = 'a string',
  is: (value: string) => boolean = () => true,
): Field<string> {
  return {
    type: 'text',
    wanted,
    fits: (value) => typeof value === 'string' && is(value),
  };
}

/** A function. */
export function callback<Fn>(wanted = 'a function'): Field<Fn> {
  return { type: 'function', wanted, fits: (value) => typeof value === 'function' };
}

/** Field with a value that passes a test. */
export function custom<Value>(wanted: string, fits: (value: unknown) => boolean): Field<Value> {
  return { type: 'custom', wanted, fits };
}

/** Field with any value, which is checked elsewhere. */
export function anything<Value>(): Field<Value> {
  return { type: 'anything', wanted: 'anything', fits: () => true };
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An object with options of its own, which are completed. */
export function object<F extends Fields>(inner: Schema<F>): Field<Input<F>, Parsed<F>> {
  return {
    type: 'object',
    wanted: `an object; known are ${inner.names.join(', ')}`,
    fits: isObject,
    inside: (value, path, owner) => readOptions(owner, value, inner, path, { ...inner.defaults }),
  };
}

/** Field with an object that stays without defaults: what it changes is elsewhere. */
export function partial<F extends Fields>(inner: Schema<F>): Field<Input<F>, Given<F>> {
  return {
    ...object(inner),
    inside: (value, path, owner) => readOptions(owner, value, inner, path, {}),
  } as Field<Input<F>, Given<F>>;
}

/** An object in which every value is of one kind, under names of the user's. */
export function record<Value, Each = unknown>(
  each: Field<any, Each, any>,
  wanted = 'an object',
  names?: Pick<Field<string>, 'wanted' | 'fits'>,
): Field<Value, Record<string, Each>> {
  return {
    type: 'record',
    wanted,
    fits: (value) => isObject(value) && !(Symbol.iterator in value),
    inside: (value, path, owner) =>
      Object.fromEntries(
        Object.entries(value as Record<string, unknown>).map(([name, item]) => {
          if (names !== undefined && !names.fits(name)) {
            const shown = `an object with the name ${show(name)}`;
            throw wrong(owner, path, shown, `an object whose names are ${names.wanted}`);
          }
          return [name, readField(owner, item, each, `${path}.${name}`)];
        }),
      ),
  };
}

/** An array of `min` items or more, each of one kind; it is copied. */
export function list<Value, Each = unknown>(
  each: Field<any, Each, any>,
  wanted: string,
  min = 0,
): Field<Value, Each[]> {
  return {
    type: 'list',
    wanted,
    fits: (value) => Array.isArray(value) && value.length >= min,
    inside: (value, path, owner) =>
      (value as unknown[]).map((item, i) => readField(owner, item, each, `${path}[${i}]`)),
  };
}

/** Field with one of several kinds. What is wrong inside of an object says more than that no kind fits. */
export function either<const F extends readonly AnyField[]>(
  ...kinds: F
): Field<InputOf<F[number]>, OutputOf<F[number]>> {
  const words = kinds.map(({ wanted }) => wanted.split(';')[0]!);
  const last = words.pop();
  return {
    type: 'either',
    wanted: `${words.join(', ')}, or ${last}`,
    fits: (value) => kinds.some(({ fits }) => fits(value)),
    inside: (value, path, owner) => {
      const kind = kinds.find(({ fits }) => fits(value))!;
      return kind.inside === undefined ? value : kind.inside(value, path, owner);
    },
  };
}

/** Field with a default, which may also be null: for "not given". All who are given no other share it: it is frozen. */
export const or = <Value, Output, Default extends Output | null>(
  field: Field<Value, Output>,
  usual: Default,
): Field<Value, Output, Default> =>
  ({ ...field, default: Object.freeze(usual) }) as Field<Value, Output, Default>;

/** Field that must be given. */
export const required = <Value, Output>(field: Field<Value, Output, any>) =>
  ({ ...field, isRequired: true }) as Field<Value, Output, never>;

/** Field whose value no message shows. */
export function secret<F extends AnyField>(field: F): F {
  return { ...field, isSecret: true };
}

// ---- reading

/**
 * Reports whether plain options are as the schema says: a quick yes for what is checked in each call. False where that takes
 * a closer look.
 */
export function passes(given: unknown, { names, list }: Schema): boolean {
  if (!isObject(given) || Object.getPrototypeOf(given) !== Object.prototype) return false;
  // Without a list of the keys, which `Object.keys()` would allocate.
  for (const name in given) {
    const field = list[names.indexOf(name)];
    if (field === undefined || field.inside !== undefined) return false;
    const value = given[name];
    if (value !== undefined && !field.fits(value)) return false;
  }
  return true;
}

/** Reads options into `target`. Throws the owner's error for the first mistake. */
export function readOptions<Target>(
  owner: Owner,
  given: unknown,
  { names, list, unknown, isNullAbsent }: Schema,
  path: string,
  target: Target,
): any {
  if (!isObject(given)) {
    throw wrong(owner, path || 'options', show(given), `an object; known are ${names.join(', ')}`);
  }
  if (unknown !== 'ignored') refuseUnknown(owner, given, names, path, unknown);
  for (let i = 0; i < names.length; i++) {
    const name = names[i]!;
    const field = list[i]!;
    const value = given[name];
    if (value === undefined || (isNullAbsent && value === null)) {
      if (field.isRequired !== true) continue;
    }
    const read = readField(owner, value, field, path === '' ? name : `${path}.${name}`);
    if (target !== null) (target as Record<string, unknown>)[name] = read;
  }
  return target;
}

/** Reads one value. Throws the owner's error. */
export function readField<Output>(
  owner: Owner,
  value: unknown,
  field: Field<any, Output, any>,
  path: string,
): Output {
  if (field.fits(value)) {
    return (field.inside === undefined ? value : field.inside(value, path, owner)) as Output;
  }
  if (path === '') throw wrong(owner, 'content', show(value), field.wanted);
  const shown = field.isSecret ? `<${typeof value}>` : show(value);
  if (field.message === undefined) throw wrong(owner, path, shown, field.wanted);
  throw owner.error(`${owner.what}: ${field.message(path, shown, field.wanted)}`);
}

function wrong(owner: Owner, path: string, shown: string, wanted: string): Error {
  return owner.error(badValue(owner.what, path, shown, wanted));
}

function refuseUnknown(
  owner: Owner,
  given: object,
  known: readonly string[],
  path: string,
  unknown: Unknown,
): void {
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue;
    if (unknown === 'misspelt' && nearest(name, known) === undefined) continue;
    throw owner.error(unknownOption(owner.what, path === '' ? name : `${path}.${name}`, known));
  }
}

/** The message for a value: whose, which, what it is, what it must be. */
export function badValue(what: string, name: string, shown: string, wanted: string): string {
  return `${what}: '${name}' is ${shown}; it must be ${wanted}`;
}

/** The message for an unknown name: whose, which, what was probably meant, and what there is. */
export function unknownOption(what: string, path: string, known: readonly string[]): string {
  const guess = nearest(path.slice(path.lastIndexOf('.') + 1), known);
  const hint = guess === undefined ? '' : ` (is '${guess}' meant?)`;
  return `${what}: unknown option '${path}'${hint}; known are ${known.join(', ')}`;
}

/** Shows a value in a message: short, quoted where it is text, never throwing. */
export function show(value: unknown): string {
  if (typeof value === 'string') {
    return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
  }
  if (typeof value === 'function') return `a function`;
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object' && value !== null) {
    try {
      return `an object (${String(value.constructor?.name ?? 'no prototype')})`;
    } catch {
      return 'an object';
    }
  }
  return typeof value === 'bigint' ? `${value}n` : String(value);
}

/** The known name that was probably meant: the one that takes the fewest edits, if those are few, or one that begins with it. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  // If more than a third of it has to change, it is another word.
  let fewest = Math.floor(name.length / 3) + 1;
  for (const candidate of known) {
    const count = edits(name.toLowerCase(), candidate.toLowerCase());
    if (count >= fewest) continue;
    fewest = count;
    best = candidate;
  }
  return best ?? known.find((candidate) => candidate.startsWith(name) && name.length >= 3);
}

/** Letters to insert, remove, replace, or swap with the next one on the way from one word to the other. */
function edits(from: string, to: string): number {
  let twoAbove: number[] = [];
  let above = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const replace = above[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const swap = isSwapped ? twoAbove[j - 2]! + 1 : replace;
      row.push(Math.min(replace, swap, above[j]! + 1, row[j - 1]! + 1));
    }
    twoAbove = above;
    above = row;
  }
  return above[to.length]!;
}
