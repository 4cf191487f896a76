/**
 * The functions in C++ on which Node.js builds `node:fs`. Test doubles such as mock-fs replace them, so that a whole file system is
 * theirs, while `node:fs` stays as it is. Auto makes its calls without them, and would find the files that are on the disk. So it asks
 * here, before each call, whether the functions that Node.js would use for it are original, and leaves the call to Node.js if not.
 *
 * `process.binding` gives them to anybody. It is called once, at the start, before the program could see that. Where it prints a warning
 * (`--pending-deprecation`), or somebody has replaced it, auto cannot tell, and leaves all calls to Node.js. Under the permission
 * model it gives nothing to anybody.
 */

const names = [
  ...(['stat', 'lstat', 'fstat', 'open', 'read', 'close'] as const),
  ...(['openFileHandle', 'writeBuffer', 'writeString'] as const),
];

/** Name of one of the functions. */
export type BindingName = (typeof names)[number];
type Binding = Record<BindingName, unknown>;

const isClosed = process.permission !== undefined;
/** Null: nobody has it, or it is not known. */
const binding = isClosed ? null : bindingOfNode();
const originals = Object.fromEntries(names.map((name) => [name, binding?.[name]])) as Binding;
const areNative = binding !== null && names.every((name) => isNative(originals[name], name));

/**
 * Reports whether these functions are still those of Node.js. Only where {@link whyReplaced} returned null at the start.
 * Costs some 30 ns per name.
 */
export function areOriginal(wanted: readonly BindingName[]): boolean {
  if (binding === null) return true;
  for (const name of wanted) if (binding[name] !== originals[name]) return false;
  return true;
}

/** Returns the reason why all file calls are left to Node.js now, in one sentence; null: they are not. */
export function whyReplaced(): string | null {
  if (isClosed) return null;
  if (binding === null) {
    return 'process.binding warns or was replaced, so millrace/auto cannot tell what others replace beneath node:fs';
  }
  if (areNative && areOriginal(names)) return null;
  return 'functions beneath node:fs were replaced, as test doubles of files do';
}

function bindingOfNode(): Binding | null {
  const { binding } = process as unknown as { binding?: (name: string) => Binding };
  return /\binternalBinding\(module\)/.test(String(binding)) ? binding!('fs') : null;
}

/** A function that somebody has bound has another name. */
function isNative(value: unknown, name: BindingName): boolean {
  return (
    typeof value === 'function' && value.name === name && /\[native code\]/.test(String(value))
  );
}
