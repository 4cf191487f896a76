import { relative } from 'node:path';

/** From the working directory, as long as there is one and that is shorter. */
export function relativePath(file: string): string {
  try {
    const path = relative(process.cwd(), file);
    return path.length < file.length ? path : file;
  } catch {
    return file;
  }
}
