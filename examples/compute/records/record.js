const FIRST = ['Ada', 'Alan', 'Barbara', 'Edsger', 'Frances', 'Grace', 'John', 'Tony'];
const LAST = ['Allen', 'Backus', 'Dijkstra', 'Hoare', 'Hopper', 'Liskov', 'Lovelace', 'Turing'];
const CITIES = ['Berlin', 'Bogotá', 'Dublin', 'Lagos', 'Lima', 'Mumbai', 'Osaka', 'Oslo', 'Tunis'];

/** 2024-01-01T00:00:00Z; a record for each second. */
const EPOCH_MS = 1_704_067_200_000;
const MOST_CENTS = 1_000_000;

/** The bits of a number thoroughly mixed, so that a record depends on its id alone, whoever makes it. */
function mix(number) {
  let x = Math.imul(number ^ (number >>> 16), 0x45d9f3b);
  x = Math.imul(x ^ (x >>> 16), 0x45d9f3b);
  return (x ^ (x >>> 16)) >>> 0;
}

/** Makes a record. @param {number} id from 0 */
export function makeRecord(id) {
  const random = mix(id + 1);
  const first = FIRST[random & 7];
  const last = LAST[(random >>> 3) & 7];
  return {
    id,
    name: `${first} ${last}`,
    email: `${first}.${last}.${id}@example.org`.toLowerCase(),
    city: CITIES[(random >>> 6) % CITIES.length],
    cents: mix(random) % MOST_CENTS,
    at: new Date(EPOCH_MS + id * 1000).toISOString(),
  };
}
