/**
 * Arm of one round: `node keys.js SUBJECT` sends items per second, and what was wrong, or null.
 *
 * Ticks in which 1,000 loads of distinct keys are made at once. Each subject is a
 * function that makes the `load` of a tick, over the same backend: a map behind the cheapest of
 * round trips, one turn of the loop a call, however many keys the call is for.
 */
const perTick = 1000;

const rows = new Map(Array.from({ length: perTick }, (_, key) => [key, { key, value: key + 1 }]));

/** The backend: one row for each key. */
async function getMany(keys) {
  await new Promise((resolve) => setImmediate(resolve));
  return keys.map((key) => rows.get(key));
}

const subjects = {
  millrace: async () => {
    const { batch } = await import('millrace');
    const load = batch(getMany);
    return () => load;
  },
  // Calls with the same key share an item, as they do in a loader's cache.
  'millrace with keys': async () => {
    const { batch } = await import('millrace');
    const load = batch(getMany, { key: (key) => key });
    return () => load;
  },
  dataloader: async () => {
    const { default: DataLoader } = await import('dataloader');
    const loader = new DataLoader(getMany, { cache: false });
    return () => (key) => loader.load(key);
  },
  // With its default cache a loader is made for each request; a longer life would serve old rows.
  'dataloader cache': async () => {
    const { default: DataLoader } = await import('dataloader');
    return () => {
      const loader = new DataLoader(getMany);
      return (key) => loader.load(key);
    };
  },
  unbatched: async () => {
    const load = async (key) => (await getMany([key]))[0];
    return () => load;
  },
};

const loadOfTick = await subjects[process.argv[2]]();

async function run(ticks) {
  let sum = 0;
  for (let tick = 0; tick < ticks; tick++) {
    const load = loadOfTick();
    const loads = [];
    for (let key = 0; key < perTick; key++) loads.push(load(key));
    for (const row of await Promise.all(loads)) sum += row.value;
  }
  return sum;
}

await run(100);
const ticks = 400;
const start = performance.now();
const sum = await run(ticks);
const seconds = (performance.now() - start) / 1000;
const whole = (ticks * perTick * (perTick + 1)) / 2;
process.send({
  items_per_s: (ticks * perTick) / seconds,
  wrong: sum === whole ? null : `the rows add up to ${sum}, not to ${whole}`,
});
