import { readFileSync } from 'node:fs';
import { isatty } from 'node:tty';

/**
 * Whether what a terminal's keys send reaches this process and its children alike: they are the terminal's foreground
 * group. On systems other than Linux: whether there is a terminal at all.
 */
export function isForeground(): boolean {
  if (process.platform !== 'linux') return [0, 1, 2].some((descriptor) => isatty(descriptor));
  try {
    return ofStat(readFileSync('/proc/self/stat', 'utf8'));
  } catch {
    return false;
  }
}

/** The name of the program may have blanks and parentheses; after it come state, parent, group, session, terminal, its group. */
function ofStat(stat: string): boolean {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[2] === fields[5];
}
