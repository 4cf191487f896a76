/**
 * Subjects: functions from a record to the promise that it is in the file, and if `durable` on the disk. Each with
 * the threadpool of 4 threads that Node.js has by default.
 */
import { createWriteStream, fdatasync } from 'node:fs';
import { open } from 'node:fs/promises';

export const subjects = {
  millrace: async (path, durable) => {
    const { appendFile } = await import('millrace/fs');
    const options = { durable };
    return (record) => appendFile(path, record, options);
  },
  /** Appends by Node.js. With `flush: true` it calls fsync; fdatasync is cheaper, and enough. */
  appendFile: async (path, durable) => async (record) => {
    const file = await open(path, 'a');
    try {
      await file.appendFile(record);
      if (durable) await file.datasync();
    } finally {
      await file.close();
    }
  },
  'held-fd': async (path, durable) => {
    const file = await open(path, 'a');
    return async (record) => {
      await file.write(record);
      if (durable) await file.datasync();
    };
  },
  writestream: async (path, durable) => {
    const stream = createWriteStream(path, { flags: 'a' });
    await new Promise((resolve) => stream.once('ready', resolve));
    return (record) =>
      new Promise((resolve, reject) => {
        const end = (error) => (error ? reject(error) : resolve());
        stream.write(record, (error) =>
          error || !durable ? end(error) : fdatasync(stream.fd, end),
        );
      });
  },
};

/** Null, or why what millrace has counted cannot be right: of several at a time, some share a commit. */
export async function refused(appends, atOnce) {
  const { stats } = await import('millrace/fs');
  const counted = stats();
  if (counted.appends !== appends)
    return `millrace counted ${counted.appends} appends of ${appends}`;
  if (atOnce > 1 && counted.commits >= appends)
    return `${appends} appends took ${counted.commits} commits`;
  return null;
}
