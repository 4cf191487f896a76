/** A reporter of node:test: one line of JSON for each test that ended, named by the path to it. */
export default async function* reporter(source) {
  const path = [];
  for await (const { type, data } of source) {
    if (type === 'test:start') path.splice(data.nesting, path.length, data.name);
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const name = [...path.slice(0, data.nesting), data.name].join(' > ');
    const isSkipped = data.skip !== undefined || data.todo !== undefined;
    const outcome = isSkipped ? 'skipped' : type === 'test:pass' ? 'passed' : 'failed';
    yield `${JSON.stringify({ name, outcome })}\n`;
  }
}
