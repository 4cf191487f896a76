/**
 * Names of `schema.cts` for ES modules. `package.json` leads an `import` of a CommonJS module to the file of its name in this folder, and
 * `require()` to the module itself.
 *
 * To link a CommonJS module, Node.js first looks for the names of its exports, with a parser in JavaScript. These modules are long enough
 * for V8 to optimize that parser, which costs some 20 ms of CPU time, and 4 MB that the thread of the compiler keeps. The parser reads the
 * files of this folder in their place.
 */
import schemas = require('../schema.cjs');

export const {
  above0,
  anything,
  badValue,
  boolean,
  bytes,
  callback,
  choice,
  custom,
  either,
  integer,
  isObject,
  list,
  ms,
  nearest,
  number,
  object,
  omit,
  or,
  partial,
  passes,
  readField,
  readOptions,
  record,
  required,
  schema,
  secret,
  show,
  text,
  unknownOption,
  wholeMs,
} = schemas;
