import { getSystemErrorMap } from 'node:util';

const codes = getSystemErrorMap();

/** The number of libuv on this system for a name such as `ENOENT`. */
export function codeOf(name: string): number {
  for (const [code, [known]] of codes) if (known === name) return code;
  return Number.NaN;
}

/** The error that Node.js makes of a code of libuv. */
export function systemError(
  errno: number,
  syscall: string | undefined,
  path: string | Buffer | null,
): NodeJS.ErrnoException {
  const [code, text] = codes.get(errno) ?? [`UNKNOWN`, 'unknown error'];
  let message = syscall === undefined ? `${code}: ${text}` : `${code}: ${text}, ${syscall}`;
  const known = path === null ? null : knownAs(path);
  if (known !== null) message += ` '${known}'`;
  const error: NodeJS.ErrnoException = new Error(message);
  error.errno = errno;
  error.code = code;
  if (syscall !== undefined) error.syscall = syscall;
  if (known !== null) error.path = known;
  return error;
}

/** A path as the system knows it: without half a surrogate pair. */
export function knownAs(path: string | Buffer): string {
  return Buffer.from(path as string).toString();
}
