import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withBrowser } from '../../../scripts/lib/page-tests.js';
import { temporaryFolder } from '../../../scripts/lib/program-tests.js';
import { startChat } from '../app.js';
import { Client, start } from './support.js';

withBrowser(
  'the page',
  (open) => {
    /** A page of its own, as a first-time visitor who gives this name. */
    async function visit(t, url, name, options) {
      const page = await open(t, url, options);
      await page.fill('#welcome-name', name);
      await page.keyboard.press('Enter');
      await page.waitForSelector('#connection[data-state=online]', { state: 'attached' });
      return page;
    }

    const message = (page, text) => page.locator('#log .text', { hasText: text });

    test('two people talk, see each other and what the other writes', async (t) => {
      const chat = await start(t);
      const maya = await visit(t, `${chat.url}/#garden`, 'Maya');
      const olu = await visit(t, `${chat.url}/#garden`, 'Olu');
      await maya.waitForSelector('#people >> text=Olu');

      await olu.locator('#text').pressSequentially('Hi ');
      await maya.waitForSelector('#typing >> text=Olu is typing');
      await olu.locator('#text').pressSequentially('<b>Maya</b>');
      await olu.keyboard.press('Enter');
      await message(maya, 'Hi <b>Maya</b>').waitFor();
      assert.equal(await maya.locator('#log b').count(), 0);
      assert.equal(await maya.textContent('#typing'), '');
      assert.equal(await olu.locator('.pending').count(), 0);
      assert.equal(await olu.inputValue('#text'), '');
      await maya.waitForSelector('#saved >> text=/saved.*: \\d+ frames in \\d+ writes$/');
      assert.deepEqual([...maya.problems, ...olu.problems], []);
    });

    test('unread messages are counted in the list and the title', async (t) => {
      const chat = await start(t);
      const maya = await visit(t, `${chat.url}/#one`, 'Maya');
      const ann = await Client.connect(t, chat.url, { name: 'Ann' });
      await ann.join('two');
      await maya.focus('#join-room');
      await maya.waitForSelector('#open-room-names option[value=two]', { state: 'attached' });
      await maya.fill('#join-room', 'Two');
      await maya.keyboard.press('Enter');
      await maya.waitForSelector('#room-name >> text=# two');
      assert.equal(new URL(maya.url()).hash, '#two');
      const bob = await Client.connect(t, chat.url, { name: 'Bob' });
      await bob.join('one');
      bob.say('one', 'psst');
      await maya.waitForSelector('#rooms .badge >> text=1');
      assert.equal(await maya.title(), '(1) two');
      await maya.locator('#text').press('Alt+ArrowUp');
      await message(maya, 'psst').waitFor();
      await maya.waitForSelector('.unread-line');
      assert.equal(await maya.title(), 'one');
      assert.deepEqual(maya.problems, []);
    });

    test('the moderator mutes by keyboard, and deletes a message', async (t) => {
      const chat = await start(t);
      const maya = await visit(t, `${chat.url}/#lobby`, 'Maya');
      const bob = await Client.connect(t, chat.url, { name: 'Bob' });
      await bob.join('lobby');
      bob.say('lobby', 'regrettable');
      await message(maya, 'regrettable').waitFor();
      await maya.focus('[aria-label="Moderate Bob"]');
      await maya.keyboard.press('Enter');
      assert.equal(await maya.textContent('#menu :focus'), 'Mute');
      await maya.keyboard.press('Enter');
      assert.equal((await bob.next('notice')).kind, 'mute');
      await maya.hover('#log .message');
      await maya.click('#log .more');
      await maya.click('text=Delete message');
      await message(maya, 'regrettable').waitFor({ state: 'detached' });
      assert.deepEqual(maya.problems, []);
    });

    test('a file is attached, shown and saved; a picture is shown', async (t) => {
      const chat = await start(t);
      const maya = await visit(t, `${chat.url}/#lobby`, 'Maya');
      await maya.setInputFiles('#files', [
        { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('some notes') },
        { name: 'shot.png', mimeType: 'image/png', buffer: await maya.screenshot() },
      ]);
      await maya.waitForFunction(() => {
        const image = document.querySelector('#log img');
        return image?.complete && image.naturalWidth > 0;
      });
      const [download] = await Promise.all([
        maya.waitForEvent('download'),
        maya.click('#log a.file >> text=notes.txt'),
      ]);
      assert.equal(download.suggestedFilename(), 'notes.txt');
      assert.deepEqual(maya.problems, []);
    });

    test('scrolling back loads what came before and keeps the place', async (t) => {
      const chat = await start(t);
      const bob = await Client.connect(t, chat.url, { name: 'Bob' });
      await bob.join('lobby');
      for (let n = 0; n < 120; n += 1) bob.say('lobby', `line ${n}.`, 'r');
      for (let n = 0; n < 120; n += 1) await bob.next('ack');
      const maya = await visit(t, `${chat.url}/#lobby`, 'Maya');
      await message(maya, 'line 119.').waitFor();
      assert.equal(await message(maya, 'line 69.').count(), 0);
      for (const expected of ['line 69.', 'line 0.']) {
        await maya.locator('#log').evaluate((log) => {
          log.scrollTop = 0;
        });
        await message(maya, expected).waitFor({ state: 'attached' });
      }
      await maya.waitForSelector('.start', { state: 'attached' });
      assert.equal(await maya.locator('#log .text').count(), 120);
      assert.deepEqual(maya.problems, []);
    });

    test('rooms that others are in are offered, with how many are there', async (t) => {
      const chat = await start(t);
      const ann = await Client.connect(t, chat.url, { name: 'Ann' });
      await ann.join('garden');
      const maya = await visit(t, `${chat.url}/#lobby`, 'Maya');
      await maya.waitForSelector('#more-rooms a >> text=garden');
      assert.equal(await maya.textContent('#more-rooms li'), '#garden1 here');
      const bob = await Client.connect(t, chat.url, { name: 'Bob' });
      await bob.join('garden');
      await maya.focus('#join-room');
      await maya.waitForSelector('#more-rooms >> text=2 here');
      await maya.focus('#more-rooms a');
      await maya.keyboard.press('Enter');
      await maya.waitForSelector('#room-name >> text=# garden');
      await maya.waitForSelector('#more', { state: 'hidden' });
      assert.deepEqual(maya.problems, []);
    });

    test('a first visitor sees which room the address leads to', async (t) => {
      const chat = await start(t);
      const page = await open(t, `${chat.url}/#Garden`);
      assert.equal(await page.textContent('#welcome-room'), 'garden');
      assert.equal(await page.isVisible('#welcome-where'), true);
      await page.goto('about:blank');
      await page.goto(chat.url);
      assert.equal(await page.isVisible('#welcome-where'), false);
    });

    test('there is something to send before Send can be pressed', async (t) => {
      const chat = await start(t);
      const maya = await visit(t, `${chat.url}/#lobby`, 'Maya');
      await maya.waitForSelector('#room-info >> text=1 here');
      assert.equal(await maya.isDisabled('#send'), true);
      await maya.fill('#text', ' ');
      assert.equal(await maya.isDisabled('#send'), true);
      await maya.fill('#text', 'hello');
      await maya.click('#send');
      await message(maya, 'hello').waitFor();
      assert.equal(await maya.isDisabled('#send'), true);
      assert.equal(await maya.locator('#log .tag').count(), 0);
      assert.equal(await maya.locator('#people .tag').count(), 1);
    });

    test('a changed name can be saved', async (t) => {
      const chat = await start(t);
      const maya = await visit(t, `${chat.url}/#lobby`, 'Maya');
      await maya.waitForSelector('#people >> text=Maya');
      assert.equal(await maya.isVisible('#nick-save'), false);
      await maya.fill('#nick-name', 'May');
      await maya.click('#nick-save');
      await maya.waitForSelector('#people .name >> text=/^May$/');
      await maya.waitForSelector('#nick-save', { state: 'hidden' });
      assert.deepEqual(maya.problems, []);
    });

    test('nothing is cut at a width of 320 pixels', async (t) => {
      const chat = await start(t);
      const size = { viewport: { width: 320, height: 640 } };
      const maya = await visit(t, `${chat.url}/#${'long-room-name-'.repeat(2)}x`, 'Maya', size);
      for (const id of ['open-rooms', 'theme', 'open-people', 'attach', 'text', 'send']) {
        const { x, width } = await maya.locator(`#${id}`).boundingBox();
        assert.ok(x >= 0 && x + width <= 320, id);
      }
      assert.equal(await maya.isVisible('#help-button'), false);
      await maya.click('#open-rooms');
      await maya.keyboard.press('Escape');
      assert.deepEqual(maya.problems, []);
    });

    test('the theme follows the system until it is chosen, and the choice is remembered', async (t) => {
      const chat = await start(t);
      const maya = await visit(t, chat.url, 'Maya', { colorScheme: 'dark' });
      const theme = () => maya.evaluate(() => document.documentElement.dataset.theme);
      assert.equal(await theme(), 'dark');
      await maya.click('#theme');
      assert.equal(await theme(), 'light');
      assert.equal(await maya.getAttribute('#theme', 'aria-pressed'), 'false');
      await maya.reload();
      assert.equal(await theme(), 'light');
    });

    test('it comes back by itself when the server does, with name, room and what was not sent', async (t) => {
      const dataDir = await temporaryFolder(t);
      const first = await startChat({ dataDir, floodLimit: 0 });
      const port = Number(first.port);
      const maya = await visit(t, `${first.url}/#lobby`, 'Maya');
      await maya.fill('#text', 'before');
      await maya.keyboard.press('Enter');
      await message(maya, 'before').waitFor();
      await first.close();
      await maya.waitForSelector('#banner >> text=connection is lost');
      await maya.fill('#text', 'meanwhile');
      await maya.waitForSelector('#room-info >> text=not connected');
      assert.equal(await maya.textContent('#people-count'), 'not connected');
      assert.equal(await maya.isDisabled('#send'), true);
      await maya.keyboard.press('Enter');
      await maya.waitForSelector('.failed >> text=Send again');

      await start(t, { dataDir, port });
      await maya.waitForSelector('#connection[data-state=online]', { state: 'attached' });
      await maya.waitForSelector('#room-info >> text=moderated by you');
      await maya.click('text=Send again');
      await maya.waitForFunction(() => document.querySelectorAll('.pending').length === 0);
      assert.deepEqual(await maya.locator('#log .text').allTextContents(), ['before', 'meanwhile']);
      assert.equal(await maya.isVisible('#banner'), false);
      assert.deepEqual(maya.problems, []);
    });
  },
  { complaints: /Content Security Policy/ },
);
