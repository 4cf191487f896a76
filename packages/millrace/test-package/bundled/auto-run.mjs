/** Reads files of one tick until millrace/fs reads them. */
export async function autoRun({ promises }, features) {
  const path = process.argv[2];
  const { length } = await promises.readFile(path);
  while (features.fs.state === 'waiting' && features.fs.why === null) {
    const all = await Promise.all([1, 2, 3, 4].map(() => promises.readFile(path)));
    if (all.some((bytes) => bytes.length !== length)) throw new Error('other bytes');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return { state: features.fs.state, why: features.fs.why };
}
