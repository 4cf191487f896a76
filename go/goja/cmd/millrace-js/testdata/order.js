// What runs before what, within one task and from task to task.
const log = (text) => console.log(text);
let later;
setTimeout(() => {
  log('timeout');
  process.nextTick(log, 'timeout: tick');
  Promise.resolve('timeout: promise').then(log);
  queueMicrotask(() => log('timeout: microtask'));
}, 5);
setTimeout(() => {
  log('next timeout');
  setTimeout(() => {
    log('timeout of a timeout');
    setTimeout(later, 1);
  }, 1);
}, 5);
Promise.resolve()
  .then(() => log('promise 1'))
  .then(() => log('promise 2'));
queueMicrotask(() => {
  log('microtask 1');
  process.nextTick(log, 'tick of a microtask');
  queueMicrotask(() => log('microtask of a microtask'));
});
process.nextTick(() => {
  log('tick 1');
  process.nextTick(log, 'tick of a tick');
  Promise.resolve().then(() => log('promise of a tick'));
});
process.nextTick((...args) => log(args.join()), 'tick', 2);
(async () => {
  log('async: sync');
  await null;
  log('async: 1');
  await new Promise((resolve) => {
    later = resolve;
  });
  log('async: later');
  return 'async: result';
})()
  .then(log)
  .finally(() => log('finally'));
new Promise((resolve) => {
  log('executor');
  resolve();
  log('after resolve');
}).then(() => log('then'));
log('sync');
