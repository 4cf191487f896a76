/** Runs a program and prints what it returns, or the code and message of what it throws. No await at the top: CommonJS has none. */
export function main(run) {
  const print = (result) => {
    console.log(JSON.stringify(result));
    process.exit();
  };
  run().then(print, ({ code, message }) => print({ code, message }));
}
