/**
 * The report of `millrace doctor`: what a check finds, and the text of all findings. A check looks at one thing, changes nothing, and
 * says what it found, what follows, and what to do about it. It knows the machine only by its {@link Place}, so that tests can put a
 * folder in the place of `/`. Its name is the key under which `index.ts` lists it.
 */
import { isColoured, type Paint, painter, wrapped } from '@millrace/base/text';

/** `ok`; `note`: good to know, or optional and not there; `warning`: costs something, or will. */
type State = 'ok' | 'note' | 'warning';

/** Result of a check. */
export interface Result {
  readonly state: State;
  /** The facts. */
  readonly found: string;
  /** Consequence of the findings; null if there is none. */
  readonly means: string | null;
  /** Remedy, a command where there is one. */
  readonly fix: string | null;
}

export interface Finding extends Result {
  readonly name: string;
}

/** Place to examine. */
export interface Place {
  /** `/`, or a folder that stands for it. */
  readonly root: string;
  /** The folder of the application. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
}

export type Check = (place: Place) => Result | Promise<Result>;

export const ok = (found: string): Result => ({ state: 'ok', found, means: null, fix: null });

export const note = (found: string, means: string, fix: string | null = null): Result => ({
  state: 'note',
  found,
  means,
  fix,
});

export const warning = (found: string, means: string | null, fix: string | null): Result => ({
  state: 'warning',
  found,
  means,
  fix,
});

/** Restricts a check to Linux. */
export const onLinux =
  (check: Check): Check =>
  (place) =>
    place.platform === 'linux' ? check(place) : ok(`not looked at: this is ${place.platform}`);

const stateWidth = 'warning  '.length;

/**
 * Formats findings as aligned text, coloured on terminals.
 *
 * @param columns lines are no longer than that where words allow it
 */
export function format(
  findings: readonly Finding[],
  columns: number = process.stdout.columns ?? Number.POSITIVE_INFINITY,
): string {
  const paint = painter(isColoured(1));
  const [bold, dim] = [paint(1), paint(2)];
  const paintOf = { ok: paint(32), note: paint(33), warning: paint(31) };
  const nameWidth = Math.max(...findings.map(({ name }) => name.length)) + 2;
  const before = stateWidth + nameWidth;
  const separator = `\n${' '.repeat(before)}`;
  const block = (text: string, paint: Paint = (line) => line) =>
    wrapped(text, columns - before)
      .map(paint)
      .join(separator);
  const lines = findings.map(({ name, state, found, means, fix }) => {
    const parts = [block(found)];
    if (means !== null) parts.push(block(means, dim));
    if (fix !== null) parts.push(block(`fix: ${fix}`));
    const head = `${paintOf[state](state.padEnd(stateWidth))}${bold(name.padEnd(nameWidth))}`;
    return head + parts.join(separator);
  });
  return `${lines.join('\n')}\n\n${summary(findings)}`;
}

function summary(findings: readonly Finding[]): string {
  const counts = (['warning', 'note'] as const).flatMap((state) => {
    const n = findings.filter((each) => each.state === state).length;
    return n === 0 ? [] : [`${n} ${state}${n > 1 ? 's' : ''}`];
  });
  return counts.join(', ') || 'All is well.';
}
