// Opens the docs site in a browser: every page at two widths, and a search for a rule.
//
//     node site.js SITE [PICTURES]

import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';

import { chromium } from 'playwright-core';

import { FLAGS } from './flags.js';

const [site, pictures] = process.argv.slice(2);
const WIDTHS = [390, 1280];
const RULE = 'missing-parent';
const TYPES = { html: 'text/html', js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml', png: 'image/png' };

const server = http.createServer(answer).listen(0, '127.0.0.1');
await new Promise((resolve) => { server.once('listening', resolve); });
const origin = `http://127.0.0.1:${server.address().port}`;
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS });
try {
  await main();
} finally {
  await browser.close();
  server.close();
}

async function main() {
  const all = fs.readdirSync(site, { recursive: true })
    .filter((it) => it.endsWith('.html') && !['404.html', 'toc.html'].includes(it));
  assert.ok(all.includes(`rules/${RULE}.html`));
  for (const width of WIDTHS) {
    await inPage(width, `${width} px: search`, (page) => search(page, width));
  }
  await inPage(WIDTHS[1], 'search for a question', findsHistory);
  await inPage(WIDTHS[1], 'width of blocks', blocksFit);
  await inPage(WIDTHS[0], `${all.length} pages, ${WIDTHS.join(' and ')} px`, (page) => visit(page, all));
}

// The first hit for the name of a rule is its page.
async function search(page, width) {
  await page.goto(`${origin}/`);
  await page.locator('#mdbook-search-toggle').click();
  await page.locator('#mdbook-searchbar').pressSequentially(RULE);
  await page.locator('#mdbook-searchresults-header', { hasText: `'${RULE}'` }).waitFor();
  await picture(page, `site-search-${width}`);
  await page.locator('#mdbook-searchresults a').first().click();
  await page.waitForURL(`**/rules/${RULE}.html?*`);
  assert.equal(await page.locator('main h1').innerText(), RULE);
  await picture(page, `site-rule-${width}`);
}

// A question in plain words finds the page that answers it.
async function findsHistory(page) {
  await page.goto(`${origin}/`);
  await page.locator('#mdbook-search-toggle').click();
  await page.locator('#mdbook-searchbar').pressSequentially('who changed');
  await page.locator('#mdbook-searchresults-header', { hasText: "'who changed'" }).waitFor();
  const hits = await page.locator('#mdbook-searchresults a').evaluateAll((them) => them.slice(0, 5).map((it) => it.href));
  assert.ok(hits.some((it) => it.includes('/history.html')), hits.join('\n'));
}

// A block shows 100 columns, the width of output without a terminal.
async function blocksFit(page) {
  await page.goto(`${origin}/comparing.html`);
  const columns = await page.evaluate(() => {
    const block = document.querySelector('pre code');
    const style = getComputedStyle(block);
    const probe = document.createElement('span');
    probe.textContent = 'x'.repeat(100);
    block.append(probe);
    const width = probe.getBoundingClientRect().width / 100;
    probe.remove();
    return (block.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)) / width;
  });
  assert.ok(columns >= 100, `${columns} columns`);
}

// Each page loads, fits into the window at each width, and has all its images.
async function visit(page, all) {
  for (const file of all) {
    // At the small width, a page opens without its list of pages.
    await page.setViewportSize({ width: WIDTHS[0], height: 900 });
    const response = await page.goto(`${origin}/${file}`);
    assert.equal(response.status(), 200, file);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      // Only code blocks and tables may scroll sideways.
      const wide = await page.evaluate(() => ['html', 'body', '.page', '.content', 'main'].filter((part) => {
        const { scrollWidth, clientWidth } = document.querySelector(part);
        return scrollWidth > clientWidth;
      }));
      assert.deepEqual(wide, [], `${file} at ${width} px`);
    }
    const missing = await page.evaluate(() => [...document.images].filter((it) => !it.naturalWidth).map((it) => it.src));
    assert.deepEqual(missing, [], file);
  }
}

// Opens a page, and fails for messages, failed requests, and requests of other servers.
async function inPage(width, where, thing) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, reducedMotion: 'reduce' });
  const page = await context.newPage();
  const faults = [];
  await context.route((url) => url.origin !== origin, (route) => {
    faults.push(`${page.url()} asks for ${route.request().url()}`);
    return route.abort();
  });
  page.on('console', (message) => faults.push(`${page.url()} says ${message.text()}`));
  page.on('pageerror', (error) => faults.push(`${page.url()} fails with ${error.message}`));
  page.on('response', (it) => it.status() < 400 || faults.push(`${it.url()} is answered with ${it.status()}`));
  try {
    await thing(page);
    assert.deepEqual(faults, []);
  } catch (error) {
    error.message = `${where}: ${error.message}\n${faults.join('\n')}`;
    throw error;
  }
  console.log(where);
  await context.close();
}

async function picture(page, name) {
  if (pictures) {
    await page.screenshot({ path: path.join(pictures, `${name}.png`) });
  }
}

function answer(request, response) {
  const name = decodeURIComponent(new URL(request.url, origin).pathname).replace(/\/$/, '/index.html');
  const file = path.join(site, name);
  if (!fs.existsSync(file)) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { 'content-type': TYPES[path.extname(file).slice(1)] ?? 'application/octet-stream' });
  fs.createReadStream(file).pipe(response);
}
