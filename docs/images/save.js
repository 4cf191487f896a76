import { writeFile } from 'node:fs/promises';

/** Keeps a picture in this folder, and returns its bytes. */
export async function save(name, picture) {
  await writeFile(new URL(name, import.meta.url), picture);
  return picture.length;
}

export const size = (bytes) => `${Math.round(bytes / 1000)} KB`;
