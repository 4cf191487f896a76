process.on('exit', (status) => {
  console.log('exit', status, process.exitCode);
  process.exitCode = 5;
  setTimeout(console.log, 1, 'never');
});
process.exitCode = 3;
setTimeout(() => {
  console.log('last');
  process.exit();
}, 5);
setTimeout(console.log, 60000, 'never');
