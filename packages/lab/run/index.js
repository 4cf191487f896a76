/** Parts of programs that measure: options and errors on a command line, ports, servers that are up, children that end with their parent. */
export { LabError } from '../load/errors.js';
export { watchSignals } from './cleanup.js';
export { choice, codeOf, fail, flag, readOnlyOptions, tell, text, whole } from './command.js';
export { guard } from './guard.js';
export { newMark, strays } from './strays.js';
export { freePort, untilUp } from './up.js';
