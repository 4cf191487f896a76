/** Reports of the kernel about other processes. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const SOCKET = /^socket:\[(\d+)\]$/;

/** Target of each open descriptor of a process; none of one that has ended. */
function descriptors(pid) {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`);
      } catch {
        return '';
      }
    });
  } catch {
    return [];
  }
}

/** Counts descriptors without that of io_uring: fan-out measures in each process whether it is quicker, and has one or none. */
export const countDescriptors = (pid) =>
  descriptors(pid).filter((name) => name !== 'anon_inode:[io_uring]').length;

/** Resident memory in bytes, 0 of a process that has ended. */
export function rssOf(pid) {
  try {
    const [, kb] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return Number(kb) * 1024;
  } catch {
    return 0;
  }
}

/**
 * Which process has the other end of a connection of this one's.
 *
 * @param {number} port the connection's, on this side
 * @param {number[]} pids that may have it
 * @returns {number | undefined}
 */
export function ownerOf(port, pids) {
  const remote = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const row = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .find((fields) => fields[2]?.endsWith(remote));
  if (row === undefined) return undefined;
  return pids.find((pid) => descriptors(pid).some((name) => SOCKET.exec(name)?.[1] === row[9]));
}
