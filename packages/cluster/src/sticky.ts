/** Which process a client belongs to. Pure. */

export type StickyKey =
  | { readonly by: 'address' }
  | { readonly by: 'header' | 'cookie'; readonly name: string };

/**
 * Rendezvous hashing: each key has its own order of preference for the slots, and gets the first one that exists. When a slot
 * goes only its keys move, and when one comes it takes an equal share from each of the others.
 */
export function ownerOf(key: string, slots: Iterable<number>): number | null {
  const seed = hash(key);
  let best: number | null = null;
  let highest = -1;
  for (const slot of slots) {
    const weight = mix(seed ^ mix(slot + 1));
    if (weight <= highest) continue;
    highest = weight;
    best = slot;
  }
  return best;
}

/** FNV-1a over the characters. */
function hash(text: string): number {
  let sum = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) sum = Math.imul(sum ^ text.charCodeAt(i), 0x01000193);
  return mix(sum);
}

/** Spreads each bit over all of them (the finalizer of MurmurHash3). */
function mix(value: number): number {
  let mixed = value;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** An IPv4 client is the same on a socket of either family. */
export const addressKey = (address: string | undefined): string =>
  (address ?? '').replace(/^::ffff:(?=[\d.]+$)/, '');

/** The key that the head of a request names; null if it names none. */
export function headKey(head: string, { by, name }: { by: 'header' | 'cookie'; name: string }) {
  const value = header(head, by === 'header' ? name : 'cookie');
  if (value === null) return null;
  // The first one of a list is the client, the others are the proxies on the way.
  const key = by === 'header' ? value.split(',', 1)[0]!.trim() : cookie(value, name);
  return key === '' ? null : key;
}

function header(head: string, name: string): string | null {
  const wanted = name.toLowerCase();
  for (const line of head.split('\r\n').slice(1)) {
    const colon = line.indexOf(':');
    if (colon > 0 && line.slice(0, colon).toLowerCase() === wanted) {
      return line.slice(colon + 1).trim();
    }
  }
  return null;
}

function cookie(value: string, name: string): string | null {
  for (const pair of value.split(';')) {
    const equals = pair.indexOf('=');
    if (equals > 0 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim();
  }
  return null;
}
