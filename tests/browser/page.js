// Opens pages in a browser, and does what a person would do there.
//
//     node page.js EXAMPLES FOLDER [PICTURES]

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { chromium } from 'playwright-core';

import { LARGE, REAL, example, hostile, large, pageOf, real } from './repositories.js';

const [examples, folder, pictures] = process.argv.slice(2);
const axe = createRequire(import.meta.url).resolve('axe-core');
// The first two have each width and each scheme: enough for what a page does, while
// how it looks depends on both at once.
const SURROUNDINGS = [
  [360, 'light'],
  [1400, 'dark'],
  [360, 'dark'],
  [1400, 'light'],
];
const LOOKS = [aPageIsSound, accessible];

// Chromium may look nowhere either.
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS });
try {
  await main();
} finally {
  await browser.close();
}

async function main() {
  const repository = example(examples, folder);
  const links = ['--links', 'https://git.example.org/{path}#L{line}'];
  const compared = pageOf(repository, 'example', '--since', 'HEAD', '--all-findings', ...links);
  await everywhere('example', compared, aPageIsSound, accessible);
  await everywhere('example', compared, searchNarrows, levelsNarrow, routesOpen, causesOpen, themeSwitches, ordersByRule);
  await withoutScript('example', compared);
  const alone = pageOf(repository, 'alone');
  await everywhere('alone', alone, aPageIsSound, accessible, searchNarrows, rulesOpen);
  const nasty = pageOf(hostile(folder), 'hostile', '--since', 'HEAD', '--all-findings', ...links);
  await everywhere('hostile', nasty, aPageIsSound, accessible, ordersByRule, everythingOpens, nothingRan);
  await withoutScript('hostile', nasty);
  const huge = pageOf(large(folder), 'large', '--since', 'HEAD', '--all-findings');
  theReportIsLarge(huge);
  await everywhere('large', huge, aPageIsSound, opensSoon, searchNarrows, routesOpen, causesOpen, everythingOpens);
  const history = real(folder);
  if (history === null) {
    console.log('skipped: the real history, since LAYERCAKE_CORPUS is not set');
    return;
  }
  const page = pageOf(history, 'real', '--from', REAL.from, '--to', REAL.to, '--all-findings');
  await everywhere('real', page, aPageIsSound, opensSoon, searchNarrows, routesOpen, everythingOpens);
}

// Does each thing in a page of its own, in all surroundings that it may depend on.
async function everywhere(name, made, ...things) {
  for (const [index, [width, colorScheme]] of SURROUNDINGS.entries()) {
    for (const thing of things.filter((it) => index < 2 || LOOKS.includes(it))) {
      const where = `${name}, ${width} px, ${colorScheme}: ${thing.name}`;
      await inPage(made, { viewport: { width, height: 900 }, colorScheme }, where, thing);
      console.log(where);
    }
  }
  if (pictures) {
    await takePictures(name, made);
  }
}

// Opens a page, and lets nothing pass that a page must not do.
async function inPage(made, options, where, thing) {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  const address = pathToFileURL(made.page).href;
  const faults = [];
  await context.route('**/*', (route) => {
    if (route.request().url().split('#')[0] === address) {
      return route.continue();
    }
    faults.push(`asks for ${route.request().url()}`);
    return route.abort();
  });
  const page = await context.newPage();
  page.on('console', (message) => faults.push(`says ${message.text()}`));
  page.on('pageerror', (error) => faults.push(`fails with ${error.message}`));
  page.on('dialog', (dialog) => faults.push(`shows ${dialog.message()}`) && dialog.dismiss());
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) => {
      console.error(`the policy forbids ${event.violatedDirective}`);
    });
  });
  try {
    const start = Date.now();
    await page.goto(address);
    await thing(page, made, Date.now() - start);
    await page.waitForTimeout(20);
    assert.deepEqual(faults, []);
  } catch (error) {
    error.message = `${where}: ${error.message}`;
    throw error;
  }
  await context.close();
}

async function aPageIsSound(page) {
  await fits(page);
  assert.equal(await page.title(), `layercake: ${await page.locator('h1').innerText()}`);
  assert.equal(await page.locator('#tools').isVisible(), true);
}

// Nothing is wider than the window.
async function fits(page) {
  const [wide, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(wide <= window, `${wide} px are more than ${window}`);
}

// The checker is put in by the browser itself, which no policy forbids. It sees
// wrong places of what is not painted, so all of it is.
async function accessible(page) {
  await page.evaluate(() => {
    document.getElementById('open').click();
    for (const element of document.querySelectorAll('.edit, .finding')) {
      element.style.contentVisibility = 'visible';
    }
  });
  await page.evaluate(`${fs.readFileSync(axe, 'utf8')}; undefined`);
  const { violations } = await page.evaluate(() => axe.run());
  const told = violations.map((it) => `${it.impact} ${it.id}: ${it.nodes.map((node) => `${node.html} ${node.failureSummary}`)}`);
  assert.deepEqual(told, []);
}

async function searchNarrows(page) {
  const all = await shownFindings(page);
  const [first] = await page.locator('.finding .rule').allTextContents();
  await page.keyboard.press('/');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'search');
  await page.keyboard.type(`${first.toUpperCase()} no-such-word`);
  await says(page, `0 of ${all} findings`);
  assert.equal(await shownFindings(page), 0);
  assert.equal(await page.locator('.bunch:visible').count(), 0);
  await page.locator('#search').fill(first);
  const having = await page.evaluate((word) => [...document.querySelectorAll('.finding')]
    .filter((it) => it.textContent.toLowerCase().includes(word)).length, first);
  assert.ok(having > 0);
  await page.locator('#search').press('End');
  await page.waitForTimeout(200);
  assert.equal(await shownFindings(page), having);
  await page.locator('#search').press('Escape');
  assert.equal(await page.locator('#search').inputValue(), '');
  assert.equal(await shownFindings(page), all);
  assert.equal(await page.locator('#shown').textContent(), '');
}

async function levelsNarrow(page) {
  const levels = await page.locator('.finding').evaluateAll((all) => all.map((it) => it.dataset.level));
  const errors = levels.filter((level) => level === 'error').length;
  assert.ok(errors > 0 && errors < levels.length, levels);
  await page.getByLabel('errors').uncheck();
  await says(page, `${levels.length - errors} of ${levels.length} findings`);
  assert.equal(await shownFindings(page), levels.length - errors);
  await page.getByLabel('errors').check();
  assert.equal(await shownFindings(page), levels.length);
}

// A route is folded into a group, and that into nothing.
async function routesOpen(page) {
  const group = page.locator('.group', { has: page.locator('.route') }).first();
  const route = group.locator('.route').first();
  const step = route.locator('li').first();
  await group.scrollIntoViewIfNeeded();
  assert.equal(await step.isVisible(), false);
  await group.locator('> summary').click();
  await route.locator('> summary').click();
  assert.equal(await step.isVisible(), true);
  assert.match(await step.innerText(), /\.yaml:\d+/);
  await fits(page);
}

// From a finding to the edit behind it, and to a group of outputs and back.
async function causesOpen(page) {
  const finding = page.locator('.finding', { has: page.locator('dd a[href^="#e"]') }).first();
  await finding.evaluate((it) => { it.open = true; });
  const link = finding.locator('dd a[href^="#e"]').first();
  const edit = page.locator(await link.getAttribute('href'));
  await page.locator('#search').fill('no-such-word-at-all');
  await says(page, '0 of');
  assert.equal(await edit.isVisible(), false);
  await page.locator('#search').fill('');
  await page.waitForTimeout(200);
  await link.click();
  await page.waitForTimeout(100);
  assert.equal(await edit.isVisible(), true);
  assert.ok(await edit.evaluate((it) => it === document.activeElement || it.contains(document.activeElement)));
  const rule = finding.locator('dd a[href^="#rule-"]');
  await rule.click();
  await page.waitForTimeout(100);
  assert.equal(await page.locator(`${await rule.getAttribute('href')} p`).first().isVisible(), true);
  await page.evaluate(() => { location.hash = '#r1'; });
  await page.waitForTimeout(100);
  assert.equal(await page.locator('#r1 li').first().isVisible(), true);
}

async function rulesOpen(page) {
  const link = page.locator('.finding dd a[href^="#rule-"]').first();
  const text = page.locator(`${await link.getAttribute('href')} pre`).first();
  assert.equal(await text.isVisible(), false);
  await link.click();
  await page.waitForTimeout(100);
  assert.equal(await text.isVisible(), true);
}

async function themeSwitches(page) {
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const before = await paper();
  await page.locator('#theme').click();
  const after = await paper();
  assert.notEqual(after, before);
  await page.locator('#theme').click();
  assert.equal(await paper(), before);
}

async function ordersByRule(page) {
  const all = await shownFindings(page);
  const rules = new Set(await page.locator('.finding').evaluateAll((them) => them.map((it) => it.dataset.rule)));
  await page.locator('#order').selectOption('rule');
  assert.equal(await shownFindings(page), all);
  const titles = await page.locator('.bunch:visible h3').allTextContents();
  assert.deepEqual(titles.map((it) => it.replace(/ \d+$/, '')), [...rules].sort());
  await page.locator('#order').selectOption('file');
  assert.equal(await shownFindings(page), all);
}

async function everythingOpens(page) {
  await page.locator('#open').click();
  assert.equal(await page.locator('main details:not([open])').count(), 0);
  await fits(page);
  await page.locator('#close').click();
  assert.equal(await page.locator('main details[open]').count(), 0);
}

async function nothingRan(page) {
  await page.mouse.move(100, 400);
  await page.mouse.wheel(0, 2000);
  assert.equal(await page.evaluate(() => window.ran), undefined);
  assert.equal(await page.locator('main img, main svg, main script').count(), 0);
}

// A page without scripts says the same.
async function withoutScript(name, made) {
  const where = `${name}: without a script`;
  await inPage(made, { javaScriptEnabled: false }, where, async (page) => {
    assert.equal(await page.locator('#tools').isVisible(), false);
    const whole = await page.locator('body').textContent();
    const { report } = made;
    for (const finding of report.findings.filter((it) => it.state !== 'fixed')) {
      for (const text of [finding.message, finding.help ?? '', ...finding.notes, finding.primary.label]) {
        assert.ok(whole.includes(text), text);
      }
    }
    for (const step of report.routes.flatMap((route) => route.steps)) {
      assert.ok(whole.includes(step.document.name) && whole.includes(step.file ?? ''), step);
    }
    for (const shield of report.shields) {
      assert.ok(whole.includes(`${shield.by.file}:${shield.by.line}`), shield);
    }
    const folded = page.locator('.group').first();
    await folded.locator('> summary').click();
    assert.equal(await folded.locator('table').isVisible(), true);
  });
  console.log(where);
}

function theReportIsLarge({ page, report, took }) {
  const { sites, documents, readers } = LARGE;
  assert.ok(report.outputs.length >= 5000 && report.outputs.length >= sites * documents + sites * readers);
  assert.ok(report.findings.filter((it) => it.state === 'new').length >= 2000);
  const megabytes = fs.statSync(page).size / 1e6;
  console.log(`large: ${report.outputs.length} outputs, ${report.findings.length} findings, ${megabytes.toFixed(1)} MB, written in ${took} ms`);
  assert.ok(megabytes < 10);
}

// This machine may be slow and busy: what takes twice as long is too long.
async function opensSoon(page, made, took) {
  console.log(`opened in ${took} ms`);
  assert.ok(took < 4000, `${took} ms`);
  const start = Date.now();
  await page.locator('#search').fill('no-such-word');
  await says(page, '0 of');
  assert.ok(Date.now() - start < 4000, `${Date.now() - start} ms for a search`);
}

async function shownFindings(page) {
  return page.evaluate(() => [...document.querySelectorAll('.finding')]
    .filter((it) => it.closest('[hidden]') === null).length);
}

async function says(page, words) {
  await page.waitForFunction((wanted) => document.getElementById('shown').textContent.includes(wanted), words);
}

async function takePictures(name, made) {
  for (const [width, colorScheme] of SURROUNDINGS) {
    const file = path.join(pictures, `${name}-${width}-${colorScheme}.png`);
    await inPage(made, { viewport: { width, height: 1800 }, colorScheme }, file, async (page) => {
      await page.evaluate(() => [...document.querySelectorAll('.edit details')].slice(0, 5).forEach((it) => { it.open = true; }));
      await page.screenshot({ path: file });
    });
  }
}
