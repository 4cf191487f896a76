/** Names of `realm.cts` for ES modules: `schema.cts` of this folder says why. */
import realm = require('../realm.cjs');

export const builtin: typeof process.getBuiltinModule = realm.builtin;
export const {
  isAbortSignal,
  isAnyArrayBuffer,
  isArrayBuffer,
  isDate,
  isDOMException,
  isError,
  isPlainArray,
  isPlainObject,
  isSet,
  isThenable,
  isUint8Array,
  isURL,
  otherRuntime,
} = realm;
