/** The drawn pictures are what their programs make of the kept figures, small, with a text alternative, and on a page. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { files } from '../../scripts/lib/files.js';
import { read } from '../../scripts/lib/paths.js';
import { pictures } from '../images/pictures.js';
import { width } from '../images/svg.js';

const pages = ['README.md', ...files('docs').filter((path) => path.endsWith('.md'))].map(read);

describe('the drawn pictures', () => {
  for (const [name, draw] of Object.entries(pictures)) {
    const path = `docs/images/${name}.svg`;

    test(`${path} is what its program draws`, () => {
      assert.equal(read(path), draw(), `it is old: run node docs/images/make.js ${name}`);
    });

    test(`${path} fits a phone, and is small`, () => {
      const picture = read(path);
      assert.ok(picture.length <= 40_000, `${picture.length} bytes`);
      const [, wide, high] = /^<svg [^>]*width="(\d+)" height="([\d.]+)"/.exec(picture);
      assert.equal(Number(wide), width);
      const places = [...picture.matchAll(/ (x|x1|x2|cx|y|y1|y2|cy)="([-\d.]+)"/g)];
      for (const [, axis, place] of places) {
        const most = axis.includes('x') ? width : Number(high);
        assert.ok(place >= 0 && place <= most, `${axis}=${place} is outside of ${wide} × ${high}`);
      }
    });

    test(`${path} has a text alternative, inside and on the page that shows it`, () => {
      assert.match(
        read(path),
        /<title id="title">.{10,}<\/title>\n<desc id="description">.{40,}<\/desc>/,
      );
      const shown = pages.flatMap((page) => [...page.matchAll(/!\[([^\]]*)\]\(([^)]+)\)/g)]);
      const here = shown.filter(([, , target]) => target.endsWith(`images/${name}.svg`));
      assert.equal(here.length, 1);
      assert.ok(here[0][1].length > 30, here[0][1]);
    });
  }
});
