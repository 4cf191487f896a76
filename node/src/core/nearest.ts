/** The known name that was probably meant: the one that takes the fewest edits, if those are few, or one that begins with it. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  // If more than a third of it has to change, it is another word.
  let fewest = Math.floor(name.length / 3) + 1;
  for (const candidate of known) {
    const count = edits(name.toLowerCase(), candidate.toLowerCase());
    if (count >= fewest) continue;
    fewest = count;
    best = candidate;
  }
  return best ?? known.find((candidate) => candidate.startsWith(name) && name.length >= 3);
}

/** Letters to insert, remove, replace, or swap with the next one on the way from one word to the other. */
function edits(from: string, to: string): number {
  let twoAbove: number[] = [];
  let above = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const replace = above[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const swap = isSwapped ? twoAbove[j - 2]! + 1 : replace;
      row.push(Math.min(replace, swap, above[j]! + 1, row[j - 1]! + 1));
    }
    twoAbove = above;
    above = row;
  }
  return above[to.length]!;
}
