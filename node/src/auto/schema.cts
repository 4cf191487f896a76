/** Checks a value against as much of JSON Schema as config.schema.json needs, and says what is wrong in one sentence. */
import { show, unknown } from './mistake.cjs';

/** Every keyword that is understood. Others would be silently ignored, so a test refuses them. */
export interface Schema {
  readonly type?: 'boolean' | 'string' | 'integer' | 'number' | 'object';
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly propertyNames?: Schema;
  readonly additionalProperties?: false | Schema;
  readonly anyOf?: readonly Schema[];
}

/** What is wrong with `value`, which is called `name` in `place`; null: nothing. */
export function mistakeIn(
  value: unknown,
  schema: Schema,
  name: string,
  place: string,
): string | null {
  const alternatives = schema.anyOf ?? [schema];
  for (const each of alternatives) {
    // At most one of several alternatives is an object: what is wrong inside it says more than that none fits.
    if (each.type === 'object' && isObject(value)) return mistakeInObject(value, each, name, place);
    if (fits(value, each)) return null;
  }
  const allowed = alternatives.map(describe).join(' or ');
  return `${nameIn(name, place)} is ${show(value)}; it must be ${allowed}`;
}

function mistakeInObject(
  value: Record<string, unknown>,
  { properties = {}, propertyNames, additionalProperties }: Schema,
  name: string,
  place: string,
): string | null {
  for (const [key, item] of Object.entries(value)) {
    const schema = Object.hasOwn(properties, key) ? properties[key] : additionalProperties;
    if (schema === false) {
      return unknown('setting', key, nameIn(name, place), Object.keys(properties));
    }
    const path = name === '' ? key : `${name}.${key}`;
    if (propertyNames !== undefined && !fits(key, propertyNames)) {
      return `${nameIn(name, place)} has the key ${show(key)}; keys must be ${describe(propertyNames)}`;
    }
    const mistake = schema === undefined ? null : mistakeIn(item, schema, path, place);
    if (mistake !== null) return mistake;
  }
  return null;
}

/** The whole file has no name. */
function nameIn(name: string, place: string): string {
  return name === '' ? place : `'${name}' in ${place}`;
}

function fits(value: unknown, schema: Schema): boolean {
  if (schema.enum !== undefined) return schema.enum.includes(value);
  if (schema.type === 'object') return isObject(value);
  if (schema.type === 'integer' ? !Number.isInteger(value) : typeof value !== schema.type) {
    return false;
  }
  if (typeof value === 'number') {
    const { minimum = -Infinity, exclusiveMinimum = -Infinity, maximum = Infinity } = schema;
    return value >= minimum && value > exclusiveMinimum && value <= maximum;
  }
  if (typeof value === 'string') {
    const { minLength = 0, pattern } = schema;
    return value.length >= minLength && (pattern === undefined || new RegExp(pattern).test(value));
  }
  return true;
}

function describe(schema: Schema): string {
  const { type, minimum, exclusiveMinimum, maximum, pattern, minLength = 0 } = schema;
  if (schema.enum !== undefined) return schema.enum.map(show).join(' or ');
  if (type === 'boolean') return 'true or false';
  if (type === 'object') return 'an object';
  if (type === 'string') {
    if (pattern !== undefined) return `a text that matches ${pattern}`;
    return minLength > 0 ? 'a text that is not empty' : 'a text';
  }
  const noun = type === 'integer' ? 'an integer' : 'a number';
  return exclusiveMinimum === undefined
    ? `${noun} from ${minimum} to ${maximum}`
    : `${noun} above ${exclusiveMinimum}, up to ${maximum}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
