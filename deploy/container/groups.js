/** Control groups by hand, of either version: some hosts mount both, which crun refuses to use. */
import { existsSync } from 'node:fs';
import { mkdir, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const MOUNT = '/sys/fs/cgroup';
const isUnified = existsSync(join(MOUNT, 'cgroup.controllers'));

/** Values to write, by file of a group. */
const settings = ({ cpus, memoryMb, tasks }) => {
  const quota = Math.round(cpus * 100_000);
  const bytes = memoryMb * 1024 * 1024;
  if (isUnified) {
    return [['', { 'cpu.max': `${quota} 100000`, 'memory.max': bytes, 'pids.max': tasks }]];
  }
  return [
    ['cpu', { 'cpu.cfs_period_us': 100_000, 'cpu.cfs_quota_us': quota }],
    ['memory', { 'memory.limit_in_bytes': bytes }],
    ['pids', { 'pids.max': tasks }],
  ];
};

/**
 * Makes a group with limits.
 *
 * @param {string} name
 * @param {{ cpus: number, memoryMb: number, tasks: number }} limits
 * @returns {Promise<{ folders: string[], remove: () => Promise<void> }>} where a process writes its id to `cgroup.procs`
 */
export async function group(name, limits) {
  const folders = [];
  const remove = async () => {
    for (const folder of folders) await rmdir(folder).catch(() => {});
  };
  try {
    for (const [controller, files] of settings(limits)) {
      const folder = join(MOUNT, controller, name);
      await mkdir(folder);
      folders.push(folder);
      for (const [file, value] of Object.entries(files)) {
        await writeFile(join(folder, file), String(value));
      }
    }
  } catch (error) {
    await remove();
    throw new Error(`no control group can be made here: ${error.message}`);
  }
  return { folders, remove };
}
