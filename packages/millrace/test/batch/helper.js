/** A bulk function whose batches wait until they are told to return; `batches` lists what it got. */
export function controlled() {
  const batches = [];
  const returns = [];
  return {
    batches,
    /** Lets the oldest batch that is in flight return its items, or what is given. */
    land: (results) => returns.shift().resolve(results),
    fail: (error) => returns.shift().reject(error),
    bulk: (items, context) => {
      batches.push(items);
      return new Promise((resolve, reject) => {
        returns.push({ resolve: (results = items.slice()) => resolve(results), reject, context });
      });
    },
  };
}

/** A bulk function that returns its items at once; `batches` lists what it got. */
export function echo() {
  const batches = [];
  return {
    batches,
    bulk: async (items) => {
      batches.push(items);
      return items.slice();
    },
  };
}

export const tick = () => new Promise((resolve) => process.nextTick(resolve));
export const turn = () => new Promise(setImmediate);
