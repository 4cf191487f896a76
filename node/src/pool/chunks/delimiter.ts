/** The delimiter behind which files and streams are cut. */
import { invalid } from '../../core/options.js';
import { isUint8Array } from '../../core/realm.cjs';

/** A delimiter has to fit into what is looked at together. */
const mostBytes = 1024;

/** As bytes; a string is UTF-8. Throws MILLRACE_E_INVALID_OPTION. */
export function delimiterBytes(given: unknown = '\n'): Buffer {
  if (typeof given === 'string' || isUint8Array(given)) {
    const bytes = Buffer.from(given as Uint8Array);
    if (bytes.length >= 1 && bytes.length <= mostBytes) return bytes;
  }
  throw invalid('delimiter', given, `a string or a Buffer of 1 to ${mostBytes} bytes`);
}
