/** Makes fields of the parser from as much of JSON Schema as config.schema.json needs, so that a file is checked as all options are. */
import {
  above0,
  boolean,
  choice,
  either,
  type Field,
  integer,
  number,
  partial,
  record,
  schema,
  secret,
  text,
} from '@millrace/base/schema';

/** Every keyword that is understood. Others would be silently ignored, so a test refuses them. */
export interface JsonSchema {
  readonly type?: 'boolean' | 'string' | 'integer' | 'number' | 'object';
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly exclusiveMinimum?: 0;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  /** A secret, which no message shows. */
  readonly writeOnly?: boolean;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly propertyNames?: JsonSchema;
  readonly additionalProperties?: false | JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
}

type AnyField = Field<any, any, any>;

export function fieldOf(json: JsonSchema): AnyField {
  return json.writeOnly ? secret(plainFieldOf(json)) : plainFieldOf(json);
}

function plainFieldOf(json: JsonSchema): AnyField {
  const { minimum = 0, maximum = 0, minLength = 0, pattern } = json;
  if (json.anyOf !== undefined) return either(...json.anyOf.map(fieldOf));
  if (json.enum !== undefined) return choice(json.enum);
  if (json.type === 'object') return objectOf(json);
  if (json.type === 'boolean') return boolean();
  if (json.type === 'integer') return integer(minimum, maximum);
  if (json.type === 'number') {
    return json.exclusiveMinimum === undefined ? number(minimum, maximum) : above0(maximum);
  }
  if (pattern === undefined) {
    return text(
      minLength > 0 ? 'a text that is not empty' : 'a text',
      ({ length }) => length >= minLength,
    );
  }
  const expression = new RegExp(pattern);
  return text(`a text that matches ${pattern}`, (value) => expression.test(value));
}

function objectOf({ properties = {}, propertyNames, additionalProperties }: JsonSchema): AnyField {
  if (typeof additionalProperties === 'object') {
    const names = propertyNames === undefined ? undefined : fieldOf(propertyNames);
    return record(fieldOf(additionalProperties), 'an object', names);
  }
  const fields = Object.entries(properties).map(([name, json]) => [name, fieldOf(json)] as const);
  return partial(schema(Object.fromEntries(fields)));
}
