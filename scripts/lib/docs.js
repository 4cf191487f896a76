/**
 * Generates the pages of docs/api with TypeDoc: one for each entry point of the packages, from the doc comments of its source. TypeDoc
 * has a compiler of its own and is installed beside the package, so it is found from there.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { settleAnchors } from './docs-anchors.js';
import { docsTheme, importedAs } from './docs-theme.js';
import { Failure } from './failure.js';
import { files } from './files.js';
import { read, root, typed } from './paths.js';

const require = createRequire(join(root, 'docs/package.json'));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);

/** Entry points that only our other packages use. */
const isShared = (name) => /^@millrace\/(base|guard\/requests)(\/|$)/.test(name);

/** Folder of the pages. */
export const apiFolder = 'docs/api';

const OPTIONS = {
  name: 'millrace',
  tsconfig: join(root, 'packages/tsconfig.json'),
  // The build has checked the types.
  skipErrorChecking: true,
  readme: 'none',
  disableSources: true,
  excludePrivate: true,
  excludeExternals: true,
  excludeInternal: true,
  excludeReferences: true,
  validation: false,
  logLevel: 'Error',
  sort: ['alphabetical'],
  kindSortOrder: ['Function', 'Class', 'Variable', 'Interface', 'TypeAlias'],
  groupOrder: ['Functions', 'Classes', 'Variables', 'Interfaces', 'Type Aliases'],
  router: 'module',
  theme: 'millrace',
  hidePageHeader: true,
  hideBreadcrumbs: true,
  useHTMLAnchors: true,
  expandParameters: true,
  parametersFormat: 'none',
  interfacePropertiesFormat: 'table',
  classPropertiesFormat: 'table',
  typeAliasPropertiesFormat: 'table',
  propertyMembersFormat: 'table',
  typeDeclarationFormat: 'table',
  tableColumnSettings: { hideDefaults: true, hideInherited: true, hideModifiers: true },
  pageTitleTemplates: {
    module: ({ name }) => importedAs(name),
  },
};

/**
 * Returns the entry points with functions or types for users.
 *
 * @returns {{ name: string, source: string }[]} the name of the import, and the source file relative to the root
 */
export function entryPoints() {
  return typed.flatMap((folder) => {
    const { name, exports } = JSON.parse(read(`packages/${folder}/package.json`));
    const sources = new Set(files(`packages/${folder}/src`));
    return Object.entries(exports)
      .map(([path, target]) => ({
        name: path.replace('.', name),
        source: (target.types ?? target.import?.types ?? '')
          .replace('./dist', `packages/${folder}/src`)
          .replace(/\.d\.(c?)ts$/, '.$1ts'),
      }))
      .filter(({ name, source }) => sources.has(source) && !isShared(name));
  });
}

/**
 * Reads the source. Takes some 10 s.
 *
 * @returns {Promise<{ pages: Map<string, string>, model: object }>} the text of each page by its file name, and all that TypeDoc
 *   knows, in the form of its JSON
 * @throws {Failure} when the source cannot be read
 */
export async function readApi() {
  const { Application, PageEvent } = await load('typedoc');
  const markdown = await load('typedoc-plugin-markdown');
  const folder = mkdtempSync(join(tmpdir(), 'millrace-api-'));
  try {
    const application = await Application.bootstrapWithPlugins({
      ...OPTIONS,
      out: folder,
      entryPoints: entryPoints().map(({ source }) => join(root, source)),
      plugin: [markdown.load, docsTheme(markdown, PageEvent)],
    });
    const project = await application.convert();
    if (!project) throw new Failure('TypeDoc could not read the source of millrace');
    await application.generateOutputs(project);
    const names = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.md'));
    const pages = names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]);
    return {
      pages: settleAnchors(new Map(pages)),
      model: application.serializer.projectToObject(project, root),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
