/** Subjects: functions from a path to its bytes. Each with the threadpool of 4 threads that Node.js has by default. */
import { readFile, readFileSync } from 'node:fs';

export const subjects = {
  millrace: async () => (await import('millrace/fs')).readFile,
  'fs.promises': async () => (await import('node:fs/promises')).readFile,
  callback: async () => (path) =>
    new Promise((resolve, reject) => {
      readFile(path, (error, bytes) => (error === null ? resolve(bytes) : reject(error)));
    }),
  /** Blocks the loop: what a thread alone can do. */
  sync: async () => async (path) => readFileSync(path),
};

/** Null, or why what millrace counted up to the same moment cannot be right. */
export async function refused(reads, counted) {
  const { native } = await import('millrace');
  if (counted.reads !== reads) return `millrace counted ${counted.reads} reads of ${reads}`;
  if (native !== null && counted.onLoop + counted.jobs === 0) return 'the addon read nothing';
  return null;
}

/** Returns Millrace's counters; null in other arms, which do not load it. */
export const statsOf = async (subject) =>
  subject === 'millrace' ? (await import('millrace/fs')).stats : () => null;
