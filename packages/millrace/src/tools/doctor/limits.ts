/** Limits that the system sets: files, threads, connections. */
import { limitsOf } from '@millrace/base/limits/limits';
import { readText } from '@millrace/base/limits/system-files';
import { type Finding, ok, onlyLinux, type Place } from './finding.js';

/** A connection is an open file. */
const FILES = 65_536;
const FEW_FILES = 4096;

/** The default of `server.listen()`. */
const BACKLOG = 511;

/** libuv's own. */
const THREADS = 4;
const MOST_THREADS = 1024;

export function openFiles(place: Place): Finding {
  const name = 'open files';
  const elsewhere = onlyLinux(name, place);
  if (elsewhere !== null) return elsewhere;
  const text = readText(place.root, 'proc/self/limits') ?? '';
  const [, soft, hard] = /^Max open files\s+(\S+)\s+(\S+)/m.exec(text) ?? [];
  if (soft === undefined || hard === undefined) return ok(name, 'not known: no /proc');
  const found = `soft ${soft}, hard ${hard} (Node.js raises the soft limit when it starts)`;
  const most = hard === 'unlimited' ? Number.POSITIVE_INFINITY : Number(hard);
  if (most >= FILES) return ok(name, found);
  return {
    name,
    state: most < FEW_FILES ? 'warning' : 'note',
    found,
    means: `a process has at most ${hard} connections and files; ${FILES} are recommended for many connections`,
    fix: `ulimit -n ${FILES}, LimitNOFILE=${FILES} of a systemd unit, --ulimit nofile=${FILES} of a container`,
  };
}

export function threadPool({ root, env }: Place): Finding {
  const name = 'thread pool';
  const cpus = Math.ceil(limitsOf(root).cpus);
  const { UV_THREADPOOL_SIZE: setting } = env;
  const threads = setting === undefined ? THREADS : Number(setting);
  const found = `${setting ?? THREADS} threads (UV_THREADPOOL_SIZE${setting === undefined ? ' not set' : ''}), CPUs: ${cpus}`;
  if (!(Number.isInteger(threads) && threads >= 1 && threads <= MOST_THREADS)) {
    const means = 'libuv takes 1 thread for what is no number, and at most 1024';
    const fix = `UV_THREADPOOL_SIZE=${Math.max(THREADS, cpus)}`;
    return { name, state: 'warning', found, means, fix };
  }
  if (threads >= Math.min(cpus, MOST_THREADS)) return ok(name, found);
  const means = 'files, DNS lookups, zlib and crypto wait for a thread while CPUs may be idle';
  return { name, state: 'note', found, means, fix: `UV_THREADPOOL_SIZE=${cpus}` };
}

export function backlog(place: Place): Finding {
  const name = 'backlog';
  const elsewhere = onlyLinux(name, place);
  if (elsewhere !== null) return elsewhere;
  const text = readText(place.root, 'proc/sys/net/core/somaxconn');
  if (text === null) return ok(name, 'not known: no net.core.somaxconn');
  const most = Number(text);
  const found = `net.core.somaxconn ${most}, Node.js asks for ${BACKLOG} unless listen() says otherwise`;
  if (most >= BACKLOG) return ok(name, found);
  return {
    name,
    state: 'note',
    found,
    means: `a burst of more than ${most} connections is refused or waits a second for another try`,
    fix: 'sysctl net.core.somaxconn=4096, as root',
  };
}
