/** Whether io_uring can be had, and whether Node.js uses it: by trying, as versions and settings alone do not say. */
import { readdirSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { release } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readText } from '@millrace/base/limits/system-files';
import type { Binding } from '../../native/binding.js';
import { loadAddon } from './addon.js';
import { type Finding, ok, onlyLinux, type Place } from './finding.js';

/** libuv, and how many rings it has open once a file has been read. */
export async function libuv(place: Place): Promise<Finding> {
  const name = 'libuv';
  const { uv } = process.versions;
  if (place.platform !== 'linux') return ok(name, uv);
  await readFile(fileURLToPath(import.meta.url));
  const rings = openRings();
  const { UV_USE_IO_URING: setting } = place.env;
  const set = setting === undefined ? '' : `, UV_USE_IO_URING is ${setting}`;
  if (rings === 0) return ok(name, `${uv}, does not use io_uring itself${set}`);
  const means = 'files go to the kernel without the thread pool';
  return { name, state: 'note', found: `${uv}, uses io_uring itself${set}`, means, fix: null };
}

function openRings(): number {
  const folder = '/proc/self/fd';
  const isRing = (descriptor: string) => {
    try {
      return readlinkSync(join(folder, descriptor)) === 'anon_inode:[io_uring]';
    } catch {
      return false; // That of this very listing.
    }
  };
  return readdirSync(folder).filter(isRing).length;
}

/** io_uring for the fan-out of `millrace/ws`. */
export async function ioUring(place: Place): Promise<Finding> {
  const name = 'io_uring';
  const elsewhere = onlyLinux(name, place);
  if (elsewhere !== null) return elsewhere;
  const binding = await loadAddon();
  if (typeof binding === 'string') {
    const means = 'only the addon uses it';
    return { name, state: 'note', found: 'not tried: no addon', means, fix: null };
  }
  const why = refusal(binding);
  if (why === null) return ok(name, `works, ${circumstances(place)}`);
  return {
    name,
    state: 'note',
    found: `refused (${why}), ${circumstances(place)}`,
    means: 'a message to many WebSockets takes one system call for each, not one for all',
    fix: remedy(place),
  };
}

function refusal(binding: Binding): string | null {
  try {
    binding.fanoutOpen(2);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

interface Settings {
  /** `kernel.io_uring_disabled`: 0, 1 (without privileges), 2; null before Linux 6.6. */
  readonly disabled: string | null;
  /** 2: the system calls of this process are filtered. */
  readonly seccomp: string | null;
}

function settingsOf({ root }: Place): Settings {
  const status = readText(root, 'proc/self/status') ?? '';
  return {
    disabled: readText(root, 'proc/sys/kernel/io_uring_disabled')?.trim() ?? null,
    seccomp: /^Seccomp:\s*(\d+)$/m.exec(status)?.[1] ?? null,
  };
}

function circumstances(place: Place): string {
  const { disabled, seccomp } = settingsOf(place);
  const sysctl = disabled === null ? '' : `, kernel.io_uring_disabled ${disabled}`;
  const filter = seccomp === '2' ? ', seccomp filter' : ', no seccomp filter';
  return `Linux ${release()}${sysctl}${seccomp === null ? '' : filter}`;
}

/** What to do about a refusal, by what is set here. */
export function remedy(place: Place): string {
  const { disabled, seccomp } = settingsOf(place);
  if (disabled === '1' || disabled === '2') return 'sysctl kernel.io_uring_disabled=0, as root';
  if (seccomp === '2')
    return "allow io_uring_setup and io_uring_enter in the container's seccomp profile";
  return 'a kernel of 5.6 or newer that is built with it';
}
