/** `ok`; `note`: good to know, or optional and not there; `warning`: costs something, or will. */
export type State = 'ok' | 'note' | 'warning';

/** What a check has found. */
export interface Finding {
  readonly name: string;
  readonly state: State;
  /** The facts. */
  readonly found: string;
  /** What follows from them; null if nothing does. */
  readonly means: string | null;
  /** What to do about it, a command where there is one. */
  readonly fix: string | null;
}

/** Where to look. Tests put a folder in the place of `/`, and another environment. */
export interface Place {
  readonly root: string;
  /** The folder of the application. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
}

/** One check. */
export type Check = (place: Place) => Finding | Promise<Finding>;

export const ok = (name: string, found: string, means: string | null = null): Finding => ({
  name,
  state: 'ok',
  found,
  means,
  fix: null,
});

/** For checks that make sense only on Linux. */
export const onlyLinux = (name: string, { platform }: Place): Finding | null =>
  platform === 'linux' ? null : ok(name, `not looked at: this is ${platform}`);
