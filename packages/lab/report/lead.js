/** Lead-in of a report, in parts: facts that a reader needs before the figures. */

/** A short name, a colon, and what it stands for. */
const ROW = /^(\p{Lu}[\p{L}\d ]{0,23}): (.+)$/u;

/**
 * The lines of `about` as rows of a table, where several lines each begin with a name of their own, such as `A: node app.js`; all
 * others as paragraphs.
 *
 * @param {string | null} about
 * @returns {{ rows: [name: string, value: string][], paragraphs: string[] }}
 */
export function leadOf(about) {
  const lines = (about ?? '').split('\n').filter((line) => line.trim() !== '');
  const rows = lines.map((line) => ROW.exec(line)).filter((row) => row !== null);
  if (rows.length < 2) return { rows: [], paragraphs: lines };
  return {
    rows: rows.map(([, name, value]) => [name, value]),
    paragraphs: lines.filter((line) => !ROW.test(line)),
  };
}

/** Reports whether the value of a row is a command. */
export const isCommand = (name) => name === 'A' || name === 'B';
