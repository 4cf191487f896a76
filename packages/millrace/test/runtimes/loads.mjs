/** Imports the entry points that its arguments name. Prints how many have loaded, and those that export nothing. */
const empty = [];
let loaded = 0;
for (const name of process.argv.slice(2)) {
  if (Object.keys(await import(name)).length === 0) empty.push(name);
  loaded++;
}
console.log(JSON.stringify({ loaded, empty }));
process.exit();
