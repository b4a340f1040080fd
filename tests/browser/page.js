// Opens pages in a browser, and uses them like a person.
//
//     node page.js EXAMPLES FOLDER [PICTURES]

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { chromium } from 'playwright-core';

import { FLAGS } from './flags.js';
import { LARGE, REAL, example, hostile, large, pageOf, real } from './repositories.js';

const [examples, folder, pictures] = process.argv.slice(2);
const axe = createRequire(import.meta.url).resolve('axe-core');
// The first two cover each width and each color scheme, which is enough for behavior; appearance
// depends on the combination.
const SURROUNDINGS = [
  [360, 'light'],
  [1400, 'dark'],
  [360, 'dark'],
  [1400, 'light'],
];
const LOOKS = [pageIsValid, accessible];

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
  await everywhere('example', compared, pageIsValid, accessible);
  await everywhere('example', compared, searchNarrows, choicesNarrow, groupsNarrow, routesUnfold, linksUnfold);
  await withoutScript('example', compared);
  await onPaper('example', compared);
  const alone = pageOf(repository, 'alone');
  await everywhere('alone', alone, pageIsValid, accessible, searchNarrows, rulesUnfold);
  const nasty = pageOf(hostile(folder), 'hostile', '--since', 'HEAD', '--all-findings', ...links);
  await everywhere('hostile', nasty, pageIsValid, accessible, sitesHaveLinks, everythingUnfolds, nothingRan);
  await withoutScript('hostile', nasty);
  const huge = pageOf(large(folder), 'large', '--since', 'HEAD', '--all-findings');
  theReportIsLarge(huge);
  await everywhere('large', huge, pageIsValid, opensSoon, searchNarrows, routesUnfold, everythingUnfolds);
  const history = real(folder);
  if (history === null) {
    console.log('skipped: the real history, since LAYERCAKE_CORPUS is not set');
    return;
  }
  const page = pageOf(history, 'real', '--from', REAL.from, '--to', REAL.to, '--all-findings');
  await everywhere('real', page, pageIsValid, opensSoon, searchNarrows, choicesNarrow, routesUnfold, everythingUnfolds);
}

// Runs each check in a new page, in all relevant surroundings.
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

// Opens a page, and fails on forbidden actions of the page.
async function inPage(made, options, where, thing) {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  const address = pathToFileURL(made.page).href;
  const faults = [];
  await context.route('**/*', (route) => {
    if (route.request().url().split(/[?#]/)[0] === address) {
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

async function pageIsValid(page) {
  await fits(page);
  assert.equal(await page.title(), `layercake: ${await page.locator('h1').innerText()}`);
  assert.equal(await page.locator('#tools').isVisible(), true);
}

// No element is wider than the window.
async function fits(page) {
  const [wide, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(wide <= window, `${wide} px are more than ${window}`);
}

// The browser injects the checker, which bypasses the policy. It needs all elements to be painted,
// so everything is unfolded.
async function accessible(page) {
  await page.evaluate(() => {
    document.getElementById('fold').click();
    for (const element of document.querySelectorAll('.entry, .finding')) {
      element.style.contentVisibility = 'visible';
    }
  });
  await page.evaluate(`${fs.readFileSync(axe, 'utf8')}; undefined`);
  const { violations } = await page.evaluate(() => axe.run());
  const faults = violations.map((it) => `${it.impact} ${it.id}: ${it.nodes.map((node) => `${node.html} ${node.failureSummary}`)}`);
  assert.deepEqual(faults, []);
}

async function searchNarrows(page) {
  const all = await shownFindings(page);
  const [first] = await page.locator('.finding .rule').allTextContents();
  await page.keyboard.press('/');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'search');
  await page.keyboard.type(`${first.toUpperCase()} no-such-word`);
  await says(page, `0 of ${all} findings`);
  assert.equal(await shownFindings(page), 0);
  assert.equal(await page.locator('.file:visible').count(), 0);
  await page.locator('#search').fill(first);
  const having = await page.evaluate((word) => [...document.querySelectorAll('.finding')]
    .filter((it) => it.textContent.toLowerCase().includes(word)).length, first);
  assert.ok(having > 0);
  await says(page, `${having} of ${all} findings`);
  assert.equal(await shownFindings(page), having);
  await hitsAreVisited(page);
  await page.reload();
  assert.equal(await page.locator('#search').inputValue(), first, 'the address has the search');
  await says(page, `${having} of ${all} findings`);
  await page.locator('#search').press('Escape');
  assert.ok(!page.url().includes('search='), page.url());
  assert.equal(await page.locator('#search').inputValue(), '');
  assert.equal(await shownFindings(page), all);
  assert.equal(await page.locator('#shown').textContent(), '');
}

// The search shows its first hit, and Enter each of the others.
async function hitsAreVisited(page) {
  const number = () => page.evaluate(() => {
    const all = [...document.querySelectorAll('table.sites tbody tr, .entry, .finding')];
    return all.filter((it) => it.closest('[hidden]') === null).findIndex((it) => it.matches('.hit'));
  });
  await says(page, 'hit 1 of');
  const hits = Number((await page.locator('#shown').textContent()).split(' ').at(-1));
  for (let at = 0; at < Math.min(hits, 5); at += 1) {
    const of = `hit ${at + 1} of ${hits}`;
    await says(page, of);
    await page.waitForFunction(() => {
      const { top, bottom } = document.querySelector('.hit').getBoundingClientRect();
      return bottom > 0 && top < innerHeight;
    });
    assert.equal(await page.locator('.hit').count(), 1, of);
    await page.locator('#search').press('Enter');
  }
  await page.locator('#search').press('Shift+Enter');
  assert.ok(await number() >= 0);
}

// Each choice shows the matching findings and entries, and all choices together cover everything.
// Actions of sites have no kind and no schema, and are always shown.
async function choicesNarrow(page) {
  const all = await shownFindings(page);
  const actions = await page.locator('#actions .entry').count();
  for (const kind of ['kind', 'schema']) {
    const choice = page.locator(`#${kind}`);
    const values = await choice.locator('option').evaluateAll((them) => them.slice(1).map((it) => it.value));
    assert.ok(values.length > 1, `${kind}: ${values}`);
    for (const value of values.slice(0, 12)) {
      await choice.selectOption(value);
      const wanted = await page.evaluate(([name, word]) => [...document.querySelectorAll('.finding, .entry')]
        .filter((it) => (it.dataset[name] ?? word).split('|').includes(word)).length, [kind, value]);
      assert.ok(wanted > actions, value);
      assert.equal(await shown(page, '.finding, .entry'), wanted, value);
    }
    await choice.selectOption('');
  }
  assert.equal(await shownFindings(page), all);
}

// An entry keeps only the groups of the selected site.
async function groupsNarrow(page, { report }) {
  const choice = page.locator('#site');
  const sites = await choice.locator('option').allTextContents();
  assert.deepEqual(sites.slice(1), report.sites.map((it) => it.name));
  const groups = await shown(page, '.group');
  const counts = [];
  for (const [at, { name }] of report.sites.entries()) {
    await choice.selectOption(name);
    counts.push(await shown(page, '.group'));
    const wanted = await page.evaluate((number) => [...document.querySelectorAll('.group')].filter((it) => it.dataset.site
      .split(' ').some((range) => range.split('-')[0] <= number && number <= range.split('-')[1])).length, at);
    assert.equal(counts.at(-1), wanted, name);
    const rows = await page.locator('table.sites tbody tr:visible').allTextContents();
    assert.ok(rows.every((row) => row.includes(name)), `${name}: ${rows}`);
    assert.equal(new URL(page.url()).searchParams.get('site'), name);
  }
  assert.ok(counts.some((count) => count > 0 && count < groups), `${counts} of ${groups}`);
  await choice.selectOption('');
  assert.equal(await shown(page, '.group'), groups);
}

async function routesUnfold(page) {
  const route = page.locator('.route').first();
  const step = route.locator('li').first();
  await route.scrollIntoViewIfNeeded();
  assert.equal(await step.isVisible(), false);
  await route.locator('> summary').click();
  assert.equal(await step.isVisible(), true);
  assert.match(await step.innerText(), /\.yaml:\d+/);
  await fits(page);
}

// Follows links from a finding to its edit, which is filtered out, and to its rule page; opens a
// finding, a group and a site by address.
async function linksUnfold(page) {
  const finding = page.locator('.finding', { has: page.locator('dd a[href^="#e"]') }).first();
  await finding.locator('details').first().evaluate((it) => { it.open = true; });
  const link = finding.locator('dd a[href^="#e"]').first();
  const edit = page.locator(await link.getAttribute('href'));
  await page.locator('#search').fill(await finding.locator('.rule').textContent());
  await page.waitForTimeout(200);
  assert.equal(await edit.isVisible(), false);
  await link.click();
  await page.waitForTimeout(100);
  assert.equal(await edit.isVisible(), true);
  const rule = finding.locator('dd a[href^="#rule-"]');
  await rule.click();
  await page.waitForTimeout(100);
  assert.equal(await page.locator(`${await rule.getAttribute('href')} p`).first().isVisible(), true);
  for (const part of ['.finding', '.group[id]', '.sites [id]']) {
    const name = await page.locator(part).last().getAttribute('id');
    await page.evaluate((hash) => {
      document.querySelectorAll('main details').forEach((it) => { it.open = false; });
      location.hash = hash;
    }, name);
    await page.waitForTimeout(100);
    assert.equal(await page.locator(`[id="${name}"]`).isVisible(), true, name);
  }
}

async function rulesUnfold(page) {
  const link = page.locator('.finding dd a[href^="#rule-"]').first();
  const text = page.locator(`${await link.getAttribute('href')} pre`).first();
  assert.equal(await text.isVisible(), false);
  await link.click();
  await page.waitForTimeout(100);
  assert.equal(await text.isVisible(), true);
}

// Names of sites are encoded in addresses that lead to their rows.
async function sitesHaveLinks(page) {
  const links = await page.locator('.sites a').all();
  assert.equal(links.length, 2);
  for (const link of links) {
    await page.locator('#fold').click();
    if (!(await link.isVisible())) {
      await page.locator('#fold').click();
    }
    await link.click();
    await page.waitForTimeout(50);
    assert.equal(await link.evaluate((it) => it.matches(':target')), true);
  }
}

async function everythingUnfolds(page) {
  await page.locator('#fold').click();
  assert.equal(await page.locator('main details:not([open])').count(), 0);
  await fits(page);
  await page.locator('#fold').click();
  assert.equal(await page.locator('main details[open]').count(), 0);
}

async function nothingRan(page) {
  await page.mouse.move(100, 400);
  await page.mouse.wheel(0, 2000);
  assert.equal(await page.evaluate(() => window.ran), undefined);
  assert.equal(await page.locator('main img, main svg, main script').count(), 0);
}

// Without scripts, a page has the same content.
async function withoutScript(name, made) {
  const where = `${name}: without a script`;
  await inPage(made, { javaScriptEnabled: false }, where, async (page) => {
    assert.equal(await page.locator('#tools').isVisible(), false);
    const whole = (await page.locator('body').textContent()).replaceAll('`', '');
    const { report } = made;
    for (const finding of report.findings.filter((it) => it.state !== 'fixed')) {
      for (const text of [finding.message, finding.help ?? '', ...finding.notes, finding.primary.label]) {
        assert.ok(whole.includes(text.replaceAll('`', '')), text);
      }
    }
    for (const { document, at } of report.edits) {
      const place = at.head ?? at.base;
      assert.ok(whole.includes(`${place.file}:${place.line}`) && whole.includes(document.name), document.name);
    }
    for (const shield of report.shields) {
      assert.ok(whole.includes(shield.by[0].file), shield.by[0].file);
    }
    const rule = page.locator('.rule-page').first();
    await rule.locator('> summary').click();
    await rule.locator('p').first().waitFor();
  });
  console.log(where);
}

// Printed pages show folded content, but no controls.
async function onPaper(name, made) {
  const where = `${name}: on paper`;
  await inPage(made, { viewport: { width: 800, height: 1000 } }, where, async (page) => {
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    await page.emulateMedia({ media: 'print' });
    assert.equal(await page.locator('#tools').isVisible(), false);
    assert.equal(await page.locator('main details:not([open])').count(), 0);
    await fits(page);
  });
  console.log(where);
}

function theReportIsLarge({ page, report, took }) {
  const { sites, documents, readers } = LARGE;
  const outputs = report.totals.changed_outputs;
  assert.ok(outputs >= 5000 && outputs >= sites * documents + sites * readers, outputs);
  const megabytes = fs.statSync(page).size / 1e6;
  console.log(`large: ${outputs} outputs, ${report.findings.length} findings, ${megabytes.toFixed(1)} MB, written in ${took} ms`);
  assert.ok(megabytes < 5);
}

// This machine may be slow and busy, so the limits are twice the target.
async function opensSoon(page, made, took) {
  console.log(`opened in ${took} ms`);
  assert.ok(took < 4000, `${took} ms`);
  const start = Date.now();
  await page.locator('#search').fill('no-such-word');
  await says(page, '0 of');
  assert.ok(Date.now() - start < 4000, `${Date.now() - start} ms for a search`);
}

async function shownFindings(page) {
  return shown(page, '.finding');
}

async function shown(page, parts) {
  return page.evaluate((selector) => [...document.querySelectorAll(selector)]
    .filter((it) => it.closest('[hidden]') === null).length, parts);
}

async function says(page, words) {
  await page.waitForFunction((wanted) => document.getElementById('shown').textContent.includes(wanted), words);
}

async function takePictures(name, made) {
  for (const [width, colorScheme] of SURROUNDINGS) {
    const file = path.join(pictures, `${name}-${width}-${colorScheme}.png`);
    await inPage(made, { viewport: { width, height: 1800 }, colorScheme }, file, async (page) => {
      await page.evaluate(() => [...document.querySelectorAll('.entry details')].slice(0, 3).forEach((it) => { it.open = true; }));
      await page.screenshot({ path: file });
    });
  }
}
