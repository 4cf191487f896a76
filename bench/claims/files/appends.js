import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Appends numbered records to one file, in bursts: a log. Afterwards the file must hold each record once.
 *
 * @param {typeof import('node:fs/promises')} files the arm's
 * @param {{ atOnce: number, bytes: number }} params
 * @param {string} folder
 */
export async function appends({ appendFile }, { atOnce, bytes }, folder) {
  const path = join(folder, 'log');
  const record = (number) => `${number} `.padEnd(bytes - 1, '.').concat('\n');
  let count = 0;

  return {
    async burst() {
      const records = Array.from({ length: atOnce }, () => record(count++));
      await Promise.all(records.map((each) => appendFile(path, each)));
    },
    payload: async () => `records of ${bytes} bytes, each once`,
    faults(counted) {
      const lines = readFileSync(path, 'latin1').split('\n').slice(0, -1);
      const numbers = new Set(lines.map(Number.parseFloat));
      return [
        ...(lines.length === count && numbers.size === count && lines.every(isWhole)
          ? []
          : [`the file has ${lines.length} records, ${numbers.size} different ones, of ${count}`]),
        ...(counted !== null && counted.appends !== count
          ? [`millrace counted ${counted.appends} appends of ${count}`]
          : []),
      ];
    },
  };

  function isWhole(line) {
    return line.length === bytes - 1;
  }
}
