// Equal delays in the order of setting; what clears and sets from inside; delays that are none.
const log = (text) => console.log(text);
const sections = [
  (done) => {
    for (const delay of [0, 1, -1, NaN, undefined, null, 'x', '1', {}, true, 1.5, -Infinity]) {
      setTimeout(log, delay, `one ms: ${delay}`);
    }
    setTimeout(done, 20);
  },
  (done) => {
    let n = 0;
    const interval = setInterval(
      (...args) => {
        log(`interval ${n} ${args}`);
        if (++n === 3) {
          clearInterval(interval);
          setTimeout(log, 1, 'after the interval');
          setTimeout(done, 20);
        }
      },
      2,
      'a',
      'b',
    );
  },
  (done) => {
    const cleared = setTimeout(log, 5, 'never');
    const first = setTimeout(() => {
      log('first clears second');
      clearTimeout(second);
    }, 5);
    const second = setTimeout(log, 5, 'never');
    clearTimeout(cleared);
    clearTimeout(undefined);
    clearInterval({});
    log(typeof first + first.hasRef() + (first.unref() === first) + first.hasRef());
    first.ref();
    setTimeout(function () {
      log(typeof this.refresh);
      done();
    }, 20);
  },
  (done) => {
    let times = 0;
    const timer = setTimeout(() => {
      log(`refreshed ${times}`);
      if (++times < 3) timer.refresh();
      else done();
    }, 2);
  },
  (done) => {
    const timer = setTimeout(log, 3, 'never');
    const interval = setInterval(log, 3, 'never');
    clearTimeout(+timer);
    clearInterval(`${interval}`);
    const kept = setTimeout(() => {
      log(`kept ${typeof +kept} ${kept > 0}`);
      kept.refresh();
      clearTimeout(kept);
      done();
    }, 10);
    for (const other of [+kept + 1000, NaN, Infinity, 0, true, '', 'text', 5n, Symbol('s'), {}])
      clearTimeout(other);
    clearTimeout(setImmediate(log, 'not cleared'));
  },
  () => {
    setTimeout(log, 3600e3, 'never').unref();
    setInterval(log, 3600e3, 'never').unref();
    for (const wrong of [undefined, null, 5, 'code', {}]) {
      for (const set of [setTimeout, setInterval, setImmediate, process.nextTick, queueMicrotask]) {
        try {
          set(wrong, 1);
          log('accepted');
        } catch (error) {
          log(`${error.name} ${error.code}`);
        }
      }
    }
  },
];
(function next() {
  sections.shift()?.(next);
})();
