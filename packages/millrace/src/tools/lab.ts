/** The commands of the package `@millrace/lab`, which those who want it install. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export const INSTALL = 'npm install --save-dev @millrace/lab';

interface Lab {
  commands: Record<string, { run(argv: string[]): Promise<unknown> }>;
}

/** A command of the lab. */
export function lab(name: string, summary: string) {
  const refuse = (why: string) => {
    console.error(why);
    process.exitCode = 1;
  };
  return {
    summary: `${summary} (@millrace/lab)`,
    async run(argv: string[]): Promise<void> {
      const path = findLab();
      if (path === undefined) {
        return refuse(
          `millrace ${name} needs the package @millrace/lab, which is not installed. Run: ${INSTALL}`,
        );
      }
      const { commands } = (await import(pathToFileURL(path).href)) as Lab;
      if (commands[name] !== undefined) await commands[name].run(argv);
      else {
        refuse(
          `@millrace/lab has no command ${name}: its version does not match. Run: ${INSTALL}@latest`,
        );
      }
    },
  };
}

/** Path of the lab's commands: the lab of the working directory comes before the one that this package sees. */
export function findLab(): string | undefined {
  for (const from of [join(process.cwd(), 'package.json'), import.meta.url]) {
    try {
      return createRequire(from).resolve('@millrace/lab/cli');
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'MODULE_NOT_FOUND' && code !== 'ERR_PACKAGE_PATH_NOT_EXPORTED') throw error;
    }
  }
  return undefined;
}
