/** Copies of packages in an application's `node_modules`. */
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A copy of a package. */
export interface Copy {
  readonly name: string;
  readonly version: string;
  readonly folder: string;
}

/**
 * All copies that an application in this folder may load: in `node_modules` of the folder and of those above it, and in
 * those of the packages in there, linked ones too. Takes a few system calls for each package.
 */
export function copiesOf(names: readonly string[], cwd: string): Copy[] {
  const copies: Copy[] = [];
  const seen = new Set<string>();
  const visit = (modules: string) => {
    for (const { name, folder } of packagesIn(modules)) {
      const real = realPath(folder);
      if (real === null || seen.has(real)) continue;
      seen.add(real);
      if (names.includes(name)) copies.push({ name, version: versionOf(real), folder: real });
      visit(join(real, 'node_modules'));
    }
  };
  for (let folder = cwd; ; folder = dirname(folder)) {
    visit(join(folder, 'node_modules'));
    if (folder === dirname(folder)) return copies;
  }
}

interface Place {
  readonly name: string;
  readonly folder: string;
}

function* packagesIn(modules: string): Generator<Place> {
  for (const name of entriesOf(modules)) {
    const folder = join(modules, name);
    if (name.startsWith('@')) {
      for (const inner of entriesOf(folder)) {
        yield { name: `${name}/${inner}`, folder: join(folder, inner) };
      }
    } else if (name === '.pnpm') {
      // Its folders are not packages, but have node_modules with packages.
      for (const inner of entriesOf(folder)) yield* packagesIn(join(folder, inner, 'node_modules'));
    } else if (!name.startsWith('.')) yield { name, folder };
  }
}

function entriesOf(folder: string): string[] {
  if (!existsSync(folder)) return [];
  try {
    return readdirSync(folder);
  } catch {
    return []; // A file, or not readable for us.
  }
}

function realPath(folder: string): string | null {
  try {
    return realpathSync(folder);
  } catch {
    return null; // A link that leads nowhere.
  }
}

function versionOf(folder: string): string {
  try {
    const text = readFileSync(join(folder, 'package.json'), 'utf8');
    return String((JSON.parse(text) as { version?: unknown }).version ?? 'without a version');
  } catch {
    return 'without a version';
  }
}
