// The order of intervals and timers that have the same delay, which depends on no clock.
const ms = 5;
const programs = {
  'a timer that sets another'(log, end) {
    setTimeout(() => {
      log('a');
      setTimeout(() => log('b'), ms);
    }, ms);
    repeat(3, log, end);
  },
  'an interval that sets timers'(log, end) {
    repeat(
      3,
      (k) => {
        setTimeout(() => log(`t${k}`), ms);
        log(k);
      },
      end,
    );
  },
  'timers of microtasks and ticks'(log, end) {
    repeat(
      3,
      (k) => {
        Promise.resolve().then(() => setTimeout(() => log(`m${k}`), ms));
        process.nextTick(() => setTimeout(() => log(`n${k}`), ms));
        log(k);
      },
      end,
    );
  },
  'two intervals and a chain'(log, end) {
    let k = 0;
    const chain = () => {
      log('c');
      if (++k < 5) setTimeout(chain, ms);
    };
    repeat(
      4,
      (n) => log(`x${n}`),
      () => {},
    );
    setTimeout(chain, ms);
    repeat(6, (n) => log(`y${n}`), end);
  },
  'a timer that is refreshed'(log, end) {
    let k = 0;
    const timer = setTimeout(() => {
      log('t');
      if (++k < 3) timer.refresh();
    }, ms);
    repeat(
      4,
      (n) => {
        if (n === 1) timer.refresh();
        log(n);
      },
      end,
    );
  },
  'an interval that is refreshed by itself'(log, end) {
    const timer = repeat(
      3,
      (n) => {
        setTimeout(() => log(`t${n}`), ms);
        timer.refresh();
        log(n);
      },
      end,
    );
  },
  'callbacks that take longer than the delay'(log, end) {
    setTimeout(() => {
      block(3 * ms);
      log('a');
      setTimeout(() => log('b'), ms);
    }, ms);
    repeat(
      3,
      (k) => {
        setTimeout(() => log(`t${k}`), ms);
        block(2 * ms);
        log(k);
      },
      end,
    );
  },
  'an interval that is cleared by a timer of its callback'(log, end) {
    const timer = setInterval(() => {
      log('i');
      setTimeout(() => {
        log('clear');
        clearInterval(timer);
        setTimeout(end, 3 * ms);
      }, ms);
    }, ms);
  },
};

/** Calls `run` so often with the number of the call, and `end` a while after the last. */
function repeat(times, run, end) {
  let k = 0;
  const timer = setInterval(() => {
    run(k);
    if (++k < times) return;
    clearInterval(timer);
    setTimeout(end, 10 * ms);
  }, ms);
  return timer;
}

function block(time) {
  for (const end = Date.now() + time; Date.now() < end; );
}

(async () => {
  for (const [name, program] of Object.entries(programs)) {
    const order = [];
    await new Promise((end) => program((line) => order.push(line), end));
    console.log(`${name}: ${order.join(' ')}`);
  }
})();
