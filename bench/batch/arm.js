/** One arm of one round: `node arm.js MODULE SUBJECT CASE` sends items per second and whether all were there. */
const [name, subject, title] = process.argv.slice(2);
const { [name]: run } = await import(`./${name}.js`);
process.send(await run(subject, title));
