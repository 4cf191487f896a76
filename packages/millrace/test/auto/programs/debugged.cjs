/** A program for a debugger. Once its loop has turned for a while it blocks in promise jobs, between which no function of it is on the stack. */
async function spinInJobs() {
  const end = performance.now() + 1000;
  while (performance.now() < end) await null;
}

setTimeout(async () => {
  await spinInJobs();
  console.log('ended');
  process.exitCode = 3;
}, 300);
