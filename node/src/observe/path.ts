import { relative } from 'node:path';

/** Relative to the working directory, if there is one and that is shorter. */
export function relativePath(file: string): string {
  try {
    const path = relative(process.cwd(), file);
    return path.length < file.length ? path : file;
  } catch {
    return file;
  }
}
