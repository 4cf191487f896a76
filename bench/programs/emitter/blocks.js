/**
 * Measured blocks by case: `events` in a block, and a function that makes an emitter's block.
 * Listeners add up what they get; the sum is returned and checked, so that a listener that did not
 * run, or that the compiler removed, cannot pass for a fast one.
 */
const perTurn = 1000;

/** Emits to one listener, with one argument, in a loop. */
const direct = {
  events: 1_000_000,
  block(emitter) {
    let sum = 0;
    emitter.on('reading', (value) => {
      sum += value;
    });
    return () => {
      sum = 0;
      emitMany(emitter, this.events);
      return sum;
    };
  },
};

/** Emits 1,000 events in each turn of the loop; the time includes their delivery. */
const adaptive = {
  events: 300 * perTurn,
  block(emitter) {
    let sum = 0;
    emitter.on('reading', (value) => {
      sum += value;
    });
    return async () => {
      sum = 0;
      for (let turn = 0; turn < this.events / perTurn; turn++) {
        emitMany(emitter, perTurn);
        await endOfTurn();
      }
      return sum;
    };
  },
};

/** 1,000 events, and only then their listener. */
const late = {
  events: 100 * perTurn,
  block(emitter) {
    let sum = 0;
    const listener = (value) => {
      sum += value;
    };
    return async () => {
      sum = 0;
      for (let time = 0; time < this.events / perTurn; time++) {
        emitMany(emitter, perTurn);
        await endOfTurn();
        emitter.on('reading', listener);
        await endOfTurn();
        emitter.off('reading', listener);
      }
      return sum;
    };
  },
};

export const cases = { direct, adaptive, late };

/** The sum that `events` events of a case add up to when all of them are delivered. */
export function wholeSum(name) {
  const { events } = cases[name];
  if (name === 'direct') return sumOf(events);
  return (events / perTurn) * sumOf(perTurn);
}

function emitMany(emitter, count) {
  for (let i = 0; i < count; i++) emitter.emit('reading', valueAt(i));
}

const valueAt = (i) => 1 + (i & 1023);

function sumOf(count) {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += valueAt(i);
  return sum;
}

/** Resolves after everything that the turn has queued so far for its end. */
function endOfTurn() {
  return new Promise((resolve) => setImmediate(resolve));
}
