/** Default theme of VitePress with the fonts of the system, our colours, and one command on the first page. */
import DefaultTheme from 'vitepress/theme-without-fonts';
import { h } from 'vue';
import './style.css';

const COMMAND = 'npx millrace observe app.js';

/** In the markup of a code block, whose button copies it. */
const command = () =>
  h('div', { class: 'vp-doc command' }, [
    h('p', 'See what it would save on your own application, which runs unmodified:'),
    h('div', { class: 'language-sh' }, [
      h('button', { class: 'copy', title: 'Copy Code' }),
      h('pre', { class: 'shiki' }, h('code', COMMAND)),
    ]),
  ]);

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'home-hero-actions-after': command }),
};
