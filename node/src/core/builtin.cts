/**
 * Loads a module of Node.js, synchronously. Files in CommonJS load theirs this way, as a bundle in ES modules has no `require()`; and
 * so do files that need one only at times. In Node.js before 20.16, which lacks the function, such a bundle does not run.
 */
export const builtin: typeof process.getBuiltinModule = process.getBuiltinModule ?? require;
