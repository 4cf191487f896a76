/** ES modules as CommonJS, for Jest without modules of `vm`. */
const { transformSync } = require('esbuild');

module.exports = {
  process(text, sourcefile) {
    const { code } = transformSync(text, {
      ...{ sourcefile, format: 'cjs', target: 'node20', loader: 'js', sourcemap: 'inline' },
      supported: { 'dynamic-import': false },
      logLevel: 'silent',
    });
    return { code };
  },
};
