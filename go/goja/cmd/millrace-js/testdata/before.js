// What the listeners of 'beforeExit' begin is waited for; then they are called again.
const begin = [
  () => setImmediate(console.log, 'immediate'),
  () => setImmediate(() => setImmediate(console.log, 'second immediate')),
  () => setTimeout(console.log, 1, 'timeout'),
  () => queueMicrotask(() => setImmediate(console.log, 'immediate of a microtask')),
  () => process.nextTick(() => process.nextTick(setTimeout, console.log, 1, 'timeout of a tick')),
  () => {
    setTimeout(console.log, 60000, 'never').unref();
    process.nextTick(console.log, 'last tick');
    process.exitCode = 4;
  },
];
process.on('beforeExit', (status) => {
  console.log('before', status);
  begin.shift()?.();
});
process.on('exit', (status) => console.log('exit', status));
