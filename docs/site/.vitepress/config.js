/** Settings of VitePress. The pages are the Markdown of the whole repository; nothing is copied or written before the build. */
import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { defineConfig } from 'vitepress';
import { slugOf } from '../../../scripts/lib/docs-anchors.js';
import { projectCache, read, root } from '../../../scripts/lib/paths.js';
import { landing } from '../landing.js';
import { linkedFiles, siteMarkdown, textOf } from '../markdown.js';
import { editPattern, navigation } from '../navigation.js';
import { pages, placeOf } from '../pages.js';
import { search } from '../search.js';

const edit = editPattern(JSON.parse(read('package.json')).repository);
const icon = `data:image/svg+xml,${encodeURIComponent(read('packages/millrace/dashboard/icon.svg'))}`;
const [overview, ...others] = navigation();

export default defineConfig({
  title: 'Millrace',
  description: 'Adaptive event batching for Node.js, libuv and Go',
  lang: 'en',
  base: process.env.BASE || '/',
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: icon }]],
  srcDir: root,
  srcExclude: ['**/test*/**', '**/build/**', 'packages/lab/types/**'],
  rewrites: Object.fromEntries(
    pages.map((page) => [page, placeOf(page)]).filter(([page, place]) => page !== place),
  ),
  outDir: join(projectCache, 'site'),
  cacheDir: join(projectCache, 'vitepress'),
  markdown: {
    // Ids of headings as Markdown hosts make them; `app` is that of the element around each page.
    anchor: { slugify: (text) => slugOf(text).replace(/^app$/, '_app') },
    attrs: { disable: true },
    config: siteMarkdown,
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  themeConfig: {
    logo: icon,
    nav: [
      { text: 'Getting started', link: '/docs/getting-started' },
      ...['Guides', 'References', 'Benchmarks'].map((text) => ({
        text,
        link: `/docs/#${slugOf(text)}`,
      })),
    ],
    sidebar: [
      overview,
      ...others.map((group) => ({ ...group, collapsed: !/^(Getting|Guides)/.test(group.text) })),
    ],
    outline: { level: [2, 3] },
    search: { provider: 'local', options: search },
    editLink: edit && { pattern: edit, text: 'Edit this page' },
    notFound: {
      title: 'Page not found',
      quote: 'The address is wrong, or the page has moved. The search has every page by its words.',
      linkLabel: 'Go to the first page',
      linkText: 'First page',
    },
  },
  transformPageData: ({ relativePath }) =>
    relativePath === 'index.md' ? { frontmatter: landing() } : undefined,
  buildEnd({ outDir }) {
    for (const path of linkedFiles) {
      const place = join(outDir, textOf(path));
      mkdirSync(dirname(place), { recursive: true });
      copyFileSync(join(root, path), place);
    }
  },
});
