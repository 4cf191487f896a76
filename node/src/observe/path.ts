import { relative } from 'node:path';

/** From the working directory, as long as there is one. */
export function relativePath(file: string): string {
  try {
    return relative(process.cwd(), file);
  } catch {
    return file;
  }
}
