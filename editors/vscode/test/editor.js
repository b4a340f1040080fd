// VS Code in a browser: what a user does there, and what is shown.

import { chromium } from 'playwright-core';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Runs something with a browser. */
export async function inBrowser(use) {
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS });
  try {
    await use(browser);
  } finally {
    await browser.close();
  }
}

export class Editor {
  constructor(page) {
    this.page = page;
  }

  /** Waits until the server has started. */
  async isReady() {
    await this.viewHeader.waitFor();
  }

  /** Opens a file with the cursor at a place. */
  async open(file, line = 1, column = 1) {
    const name = file.split('/').at(-1);
    await this.page.keyboard.press('Control+P');
    await this.answer(`${file}:${line}:${column}`, name);
    await this.tab(name).waitFor();
    await this.statusBar(`Ln ${line}, Col ${column}`).waitFor();
  }

  /** Runs a command by its title. */
  async run(title) {
    await this.page.keyboard.press('F1');
    await this.answer(`>${title}`, title);
  }

  /** Writes into the field at the top, and confirms it once a row offers something. */
  async answer(text, offer) {
    await this.quickInput.fill(text);
    if (offer === undefined) {
      await this.page.keyboard.press('Enter');
    } else {
      await this.pick(offer);
    }
  }

  /** Picks a row at the top. */
  async pick(text) {
    await this.quickPick(text).first().click();
  }

  async type(text) {
    await this.page.keyboard.type(text);
  }

  /** Replaces the line of the cursor. */
  async replaceLine(text) {
    await this.run('Expand Line Selection');
    await this.type(`${text}\n`);
  }

  /** Undoes all edits of the active file. */
  async undoAll() {
    const edited = this.page.locator('.editor-group-container.active .tab.active.dirty');
    while (await edited.count() > 0) {
      await this.page.keyboard.press('Control+Z');
    }
  }

  /** Chooses an action of the lightbulb. */
  async chooseFix(title) {
    await this.page.keyboard.press('Control+.');
    await this.page.locator('.action-widget .monaco-list-row', { hasText: title }).click();
  }

  /** Waits for a text in the active editor. */
  async shows(text) {
    await this.line('.editor-group-container.active', text).first().waitFor();
  }

  async hides(text) {
    await this.line('.editor-group-container.active', text).first().waitFor({ state: 'hidden' });
  }

  line(part, text) {
    return this.page.locator(part).locator('.view-line', { hasText: pattern(text) });
  }

  /** Shows the problems that contain a word; keeps the cursor in the editor. */
  async showProblems(word) {
    await this.run('Problems: Focus on Problems View');
    await this.page.locator('.panel input[placeholder^=Filter]').fill(word);
  }

  async reports(...words) {
    await this.problems(words).first().waitFor();
  }

  async reportsNoMore(...words) {
    await this.problems(words).first().waitFor({ state: 'hidden' });
  }

  problems(words) {
    return withWords(this.page.locator('.markers-panel .monaco-list-row'), words);
  }

  async showTree() {
    await this.run('Explorer: Focus on What This Edit Reaches View');
  }

  /** Gives the view the space of the list of files, and a width. */
  async enlargeTree(width) {
    const { mouse } = this.page;
    const files = this.page.locator('.pane', { has: this.page.locator('.explorer-folders-view') });
    await files.locator('.pane-header').click();
    const bar = await this.page.locator('.part.sidebar').boundingBox();
    const middle = bar.y + bar.height / 2;
    await mouse.move(bar.x + bar.width + 1, middle);
    await mouse.down();
    await mouse.move(bar.x + width, middle, { steps: 5 });
    await mouse.up();
    await mouse.move(bar.x + width / 2, middle);
  }

  /** Waits for a part of the view "What This Edit Reaches". */
  async treeShows(text) {
    const part = this.tree.locator('.monaco-list-row, .message').filter({ hasText: text }).first();
    await part.waitFor();
    return part;
  }

  async textOf(part) {
    await part.waitFor();
    return (await part.innerText()).replaceAll('\u00a0', ' ');
  }

  get viewHeader() {
    return this.page.locator('.pane-header', { hasText: 'What This Edit Reaches' });
  }

  get tree() {
    return this.page.locator('.pane', { has: this.viewHeader });
  }

  get lenses() {
    return this.page.locator('.editor-group-container.active .codelens-decoration');
  }

  get squiggles() {
    return this.page.locator('.editor-group-container.active').locator('.squiggly-error, .squiggly-warning, .squiggly-inline-unnecessary');
  }

  /** The lightbulb. */
  get fix() {
    return this.page.locator('.codicon-gutter-lightbulb, .codicon-light-bulb').first();
  }

  /** The lightbulb if one of the fixes is the preferred one. */
  get preferredFix() {
    return this.page.locator('.codicon-gutter-lightbulb-auto-fix, .codicon-lightbulb-autofix').first();
  }

  get hover() {
    return this.page.locator('.monaco-hover-content:visible').first();
  }

  get peek() {
    return this.page.locator('.peekview-widget');
  }

  get quickInput() {
    return this.page.locator('.quick-input-widget input[type=text]');
  }

  quickPick(text) {
    return this.page.locator('.quick-input-list .monaco-list-row', { hasText: text });
  }

  tab(name) {
    return this.page.locator('.editor-group-container.active .tab.active', { hasText: name });
  }

  statusBar(text) {
    return this.page.locator('.statusbar-item', { hasText: text });
  }

  notification(text) {
    return this.page.locator('.notification-toast', { hasText: text });
  }

  /** A message at the cursor. */
  message(text) {
    return this.page.locator('.monaco-editor-overlaymessage', { hasText: text });
  }

  get settings() {
    return this.page.locator('.settings-editor');
  }
}

function withWords(rows, words) {
  return words.reduce((them, word) => them.filter({ hasText: word }), rows);
}

/** A text, with spaces as VS Code shows them. */
function pattern(text) {
  const words = text.split(' ').map((it) => it.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(words.join('[ \u00a0]'));
}
