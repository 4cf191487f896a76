/**
 * Texts of SQL: without the values in them, so that equal statements are equal and nothing of the data is kept; and the code that does
 * many of one statement at once. Only two shapes are rewritten, those of which that is sure: a look-up of rows by one column, and an insertion
 * of one row. All others are left to who knows them.
 */

/** Package that queries a database. */
export type Driver = 'pg' | 'mysql2' | 'better-sqlite3';

/** Length from which on texts are cut. */
const longest = 2000;
const ellipsis = '…';

const dollarQuoted = String.raw`\$(?<tag>[a-z_]\w*|)\$[\s\S]*?(?:\$\k<tag>\$|$)`;
/** String in SQL. Only in MySQL, and after an E in PostgreSQL, a backslash escapes. */
const string = "[bnx]?'(?:[^']|'')*(?:'|$)";
const escaping = String.raw`[bnxe]?'(?:[^'\\]|''|\\[\s\S])*(?:'|$)`;
const escapingInE = String.raw`\be'(?:[^'\\]|''|\\[\s\S])*(?:'|$)`;
const comment = String.raw`--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)`;
const doubleQuoted = String.raw`"(?:[^"\\]|""|\\[\s\S])*(?:"|$)`;
const name = '"(?:[^"]|"")*(?:"|$)';
const number = String.raw`(?<![\w$.])(?:0x[\da-f]+|\d+(?:\.\d+)?(?:e[+-]?\d+)?)\b`;

const anyToken = (...tokens: string[]) => new RegExp(tokens.join('|'), 'gi');

/** Values and comments, and names that look like them: whichever comes first. */
const tokens: Record<Driver, RegExp> = {
  pg: anyToken(comment, dollarQuoted, escapingInE, string, name, number),
  // In MySQL a text in double quotes is a value.
  mysql2: anyToken(comment, '#[^\\n]*', escaping, doubleQuoted, number),
  'better-sqlite3': anyToken(comment, string, name, number),
};

/** A text without values, comments and superfluous blanks; `…` stands for a value. Costs some µs for a text of a few hundred characters. */
export function redacted(driver: Driver, text: string): string {
  const bare = text
    .slice(0, 2 * longest)
    .replace(tokens[driver], (token) => {
      if (/^(?:--|\/\*|#)/.test(token)) return ' ';
      if (driver !== 'mysql2' && token.startsWith('"')) return token;
      return /^\d/.test(token) ? ellipsis : `'${ellipsis}'`;
    })
    .replace(/\s+/g, ' ')
    .trim();
  return bare.length > longest ? `${bare.slice(0, longest)}${ellipsis}` : bare;
}

/** Code that does many at once; null for a statement that has to be rewritten by hand. */
export function manyAtOnce(driver: Driver, text: string): string | null {
  const statement = text.replace(/;$/, '').trim();
  return lookUp(driver, statement) ?? insertion(driver, statement);
}

const parameter = /\$\d+|\?/g;
/** Parameter that a column has to equal. */
const equality = /(?<![\w$.`"])((?:[\w$`"]+\.)*([\w$`"]+)) ?= ?(?:\$1|\?)(?![\w?])/;
/** The work that would be done once for all, and not for each. */
const beyondRows =
  /\b(?:or|not|limit|offset|fetch|distinct|group by|having|union|intersect|except|for update|for share|over|join lateral)\b|\b(?:count|sum|avg|min|max|\w+_agg|group_concat|total) ?\(|\(\s*select\b/i;

function lookUp(driver: Driver, statement: string): string | null {
  const shape = /^select (.+?) from (?:.+?) where /i.exec(statement);
  const column = equality.exec(statement);
  if (shape === null || column === null || beyondRows.test(statement)) return null;
  if (statement.match(parameter)?.length !== 1 || column.index < shape[0].length - 1) return null;
  const [whole, qualified = '', last = ''] = column;
  const property = propertyOf(driver, last);
  const list = shape[1]!;
  const isListed = list.split(',').some((each) => {
    const name = each.trim().split('.').at(-1)!;
    return name === '*' || (/^[\w$`"]+$/.test(name) && propertyOf(driver, name) === property);
  });
  const full = isListed ? statement : statement.replace(/^select /i, `$&${qualified}, `);
  const many = full.replace(whole, () => `${qualified} ${anyOf[driver]}`);
  const name = `rowsBy${property.charAt(0).toUpperCase()}${property.slice(1)}`.replace(/\W/g, '');
  const grouped = [
    'const found = new Map(values.map((value) => [String(value), []]));',
    `for (const row of rows) found.get(String(row${access(property)}))?.push(row);`,
    'return values.map((value) => found.get(String(value)));',
  ];
  if (driver === 'better-sqlite3') {
    return [
      `const statement = db.prepare(${quoted(many)});`,
      `function ${name}(values) {`,
      '  const rows = statement.all(JSON.stringify(values));',
      ...grouped.map((line) => `  ${line}`),
      '}',
    ].join('\n');
  }
  const read = driver === 'pg' ? '{ rows }' : '[rows]';
  return [
    "import { batch } from 'millrace';",
    `const ${name} = batch(async (values) => {`,
    `  const ${read} = await pool.query(${quoted(many)}, [values]);`,
    ...grouped.map((line) => `  ${line}`),
    '});',
    `const rows = await ${name}(value);`,
  ].join('\n');
}

const anyOf: Record<Driver, string> = {
  pg: '= any($1)',
  mysql2: 'in (?)',
  'better-sqlite3': 'in (select value from json_each(?))',
};

function insertion(driver: Driver, statement: string): string | null {
  const shape = /^(insert into [^()]+(?: ?\([^()]*\))? ?values) ?\(([^()]*)\)$/i.exec(statement);
  if (shape === null) return null;
  const [, head = '', list = ''] = shape;
  const values = list.split(',').map((each) => each.trim());
  const isPlain = values.every((each, i) => each === (driver === 'pg' ? `$${i + 1}` : '?'));
  if (!isPlain) return null;
  if (driver === 'better-sqlite3') {
    return [
      `const statement = db.prepare(${quoted(statement)});`,
      'const insertAll = db.transaction((rows) => rows.map((row) => statement.run(row)));',
      'insertAll(rows);',
    ].join('\n');
  }
  const names = values.map((_, i) => `value${i + 1}`).join(', ');
  const [before, text, given] =
    driver === 'mysql2'
      ? [[], quoted(`${head} ?`), '[rows]']
      : [
          [
            `  const places = (_, i) => \`(\${[${values.map((_, i) => i + 1).join(', ')}].map((n) => \`$\${i * ${values.length} + n}\`)})\`;`,
          ],
          `${quoted(`${head} `)} + rows.map(places)`,
          'rows.flat()',
        ];
  return [
    "import { batch } from 'millrace';",
    'const insert = batch(async (rows) => {',
    ...before,
    `  await pool.query(${text}, ${given});`,
    '  return rows;',
    '}, { maxBatch: 500 });',
    `await insert([${names}]);`,
  ].join('\n');
}

/** Name of the column in a row. PostgreSQL makes names small that are not quoted. */
function propertyOf(driver: Driver, name: string): string {
  const bare = name.replace(/^[`"]|[`"]$/g, '');
  return driver === 'pg' && bare === name ? name.toLowerCase() : bare;
}

const access = (property: string): string =>
  /^[a-z_$][\w$]*$/i.test(property) ? `.${property}` : `[${quoted(property)}]`;

const quoted = (text: string): string => (/['\\]/.test(text) ? JSON.stringify(text) : `'${text}'`);
