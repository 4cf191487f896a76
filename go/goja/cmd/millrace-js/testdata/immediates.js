// Immediates set by immediates wait for the next turn. What a timer sets with setImmediate comes before
// a timer that has become due meanwhile.
const log = (text) => console.log(text);
function due() {
  setTimeout(log, 1, 'timeout that is due');
  const until = Date.now() + 20;
  while (Date.now() < until);
  setImmediate(log, 'immediate before it');
}
setTimeout(() => {
  log('begin');
  setImmediate(() => {
    log('immediate 1');
    process.nextTick(log, 'immediate 1: tick');
    Promise.resolve('immediate 1: promise').then(log);
    setImmediate(() => {
      log('immediate of an immediate');
      setTimeout(due, 1);
    });
    clearImmediate(third);
  });
  setImmediate(log, 'immediate 2');
  const third = setImmediate(log, 'never');
  queueMicrotask(() => setImmediate(log, 'immediate of a microtask'));
}, 1);
