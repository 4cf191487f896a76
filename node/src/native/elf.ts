import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const MAGIC = 0x7f454c46;
const CLASS_64_LITTLE_ENDIAN = 0x0201;

/**
 * Whether a library is shorter than it says: a copy or a build that was interrupted. The system's loader maps what
 * should be there and ends the process with SIGBUS. Other formats than ELF are checked by the system itself.
 */
export function isCutShort(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const header = Buffer.alloc(64);
    readSync(file, header, 0, header.length, 0);
    if (header.readUInt32BE(0) !== MAGIC) return false;
    if (header.readUInt16BE(4) !== CLASS_64_LITTLE_ENDIAN) return false;
    // The table of the sections is the last thing in it.
    const end =
      header.readBigUInt64LE(40) + BigInt(header.readUInt16LE(58) * header.readUInt16LE(60));
    return fstatSync(file).size < end;
  } finally {
    closeSync(file);
  }
}
