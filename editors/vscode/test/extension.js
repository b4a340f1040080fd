// Drives the packaged extension in VS Code, in copies of the example repository.
//
//     node extension.js EXTENSION PROGRAM EXAMPLES FOLDER [PICTURES]
//
// FOLDER is for state of VS Code and copies of the repository; PICTURES gets a picture of each test.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { Code } from './code.js';
import { Editor, inBrowser } from './editor.js';
import { createRepository } from './repository.js';

const [extension, program, examples, folder, pictures] = process.argv.slice(2).map((it) => path.resolve(it));

// The program adds a line to it.
const starts = path.join(folder, 'starts');

// The machine may be slow and busy.
const WAIT_MS = 30_000;

const VERSIONS = 'global/config/software-versions.yaml';
const KEYSTONE = 'keystone: registry.example.org/keystone';
const TESTS = {
  'finding in the edited file': findsInFile,
  'finding in another file': findsElsewhere,
  'hover': hovers,
  'code lens': showsLenses,
  'safe fix': fixesSafely,
  'unsafe fix': fixesUnsafely,
  'rendered document': rendersDocument,
  'rendered document, compared': comparesRendered,
  'tree of changes': showsChanges,
  'site and base': choosesSite,
  'restart': restarts,
};

const failed = [];
await inBrowser(main);
assert.deepEqual(failed, []);

async function main(browser) {
  fs.mkdirSync(path.join(folder, 'bin'), { recursive: true });
  fs.writeFileSync(path.join(folder, 'bin/layercake'), `#!/bin/sh\necho >>${starts}\nexec ${program} "$@"\n`, { mode: 0o755 });
  const trusting = await Code.start({
    folder: path.join(folder, 'trusting'),
    extension,
    programs: [path.join(folder, 'bin')],
    settings: { 'security.workspace.trust.enabled': false },
  });
  try {
    for (const [name, test] of Object.entries(TESTS)) {
      await inRepository(browser, trusting, name, async (editor) => {
        await editor.isReady();
        await test(editor);
      });
    }
  } finally {
    trusting.stop();
  }
  const careful = await Code.start({ folder: path.join(folder, 'careful'), extension });
  try {
    await inRepository(browser, careful, 'program of a trusted folder', findsProgram);
  } finally {
    careful.stop();
  }
}

async function findsInFile(editor) {
  await editor.open(VERSIONS, 23);
  await editor.page.keyboard.press('End');
  assert.equal(await editor.squiggles.count(), 0);
  await editor.type('\n    horizon: again');
  await editor.squiggles.first().waitFor();
  await editor.showProblems('duplicate key');
  await editor.reports('duplicate-key', '[Ln 24, Col 5]');
  await editor.open(VERSIONS, 24);
  await editor.undoAll();
  await editor.squiggles.first().waitFor({ state: 'hidden' });
  await editor.reportsNoMore('duplicate-key', '[Ln 24, Col 5]');
}

// A label is renamed, and the document that selects it is in another file, which is not open.
async function findsElsewhere(editor) {
  const finding = ['missing-parent', '[Ln 13, Col 7]'];
  await editor.showProblems('no document matches');
  await editor.reports('missing-parent', '[Ln 11, Col 7]');
  assert.equal(await editor.problems(finding).count(), 0);
  await editor.open('type/cloud/charts/keystone.yaml', 7, 1);
  await editor.replaceLine('    name: keystone-clouds');
  await editor.reports(...finding);
  await editor.reports('keystone.yaml', 'site/north/charts');
  await editor.undoAll();
  await editor.reportsNoMore(...finding);
}

async function hovers(editor) {
  await editor.open(VERSIONS, 22, 15);
  await editor.run('Show or Focus Hover');
  const text = await editor.textOf(editor.hover);
  assert.match(text, /reaches 5 outputs in lab, north, south/);
  assert.match(text, /shielded/);
  assert.match(text, /software-versions\.yaml:19.*west/s);
}

async function showsLenses(editor) {
  await editor.open(VERSIONS);
  const lens = editor.lenses.filter({ hasText: /\d+ outputs? in \d+ sites?/ }).first();
  await lens.waitFor();
  await lens.locator('a').first().click();
  await editor.peek.waitFor();
  const files = await editor.textOf(editor.peek.locator('.ref-tree'));
  assert.match(files, /keystone\.yaml/);
  assert.match(files, /software-versions\.yaml/);
}

async function fixesSafely(editor) {
  await editor.open(VERSIONS, 22);
  await editor.type('    # layercake: ignore[missing-parent]\n');
  await editor.open(VERSIONS, 22, 10);
  await editor.preferredFix.waitFor();
  await editor.chooseFix(/[Rr]emove/);
  await editor.hides('layercake: ignore');
}

// An unsafe fix is offered, but not as the preferred one.
async function fixesUnsafely(editor) {
  await editor.open('global/charts/horizon.yaml', 31, 16);
  await editor.fix.waitFor();
  assert.equal(await editor.preferredFix.count(), 0);
  await editor.chooseFix(/deepcopy/);
  await editor.shows('deepcopy: true');
  await editor.squiggles.first().waitFor({ state: 'hidden' });
}

async function rendersDocument(editor) {
  await editor.open(VERSIONS, 22);
  await editor.replaceLine(`    ${KEYSTONE}:2025.2`);
  await editor.run('layercake: Show Rendered Document');
  await editor.pick('north');
  await editor.tab('software-versions').waitFor();
  await editor.shows(`${KEYSTONE}:2025.2`);
  // The comment names the line that sets the value.
  await editor.shows(`${VERSIONS}:22`);
  await editor.type('x');
  await editor.message('Cannot edit in read-only editor').waitFor();
  await editor.open(VERSIONS, 22);
  await editor.replaceLine(`    ${KEYSTONE}:2025.3`);
  await editor.run('View: Open Previous Recently Used Editor in Group');
  await editor.shows(`${KEYSTONE}:2025.3`);
}

async function comparesRendered(editor) {
  await editor.open(VERSIONS, 22);
  await editor.replaceLine(`    ${KEYSTONE}:2025.2`);
  await editor.run('layercake: Compare Rendered Document with Base');
  await editor.pick('south');
  await editor.line('.editor.original', `${KEYSTONE}:2025.1-ubuntu_noble`).waitFor();
  await editor.line('.editor.modified', `${KEYSTONE}:2025.2`).waitFor();
}

async function showsChanges(editor) {
  await editor.open(VERSIONS, 22);
  await editor.showTree();
  await editor.treeShows('no output changed');
  await editor.replaceLine(`    ${KEYSTONE}:2025.2`);
  await editor.treeShows('3 of 4 sites');
  const edit = await editor.treeShows('.images.keystone');
  await editor.treeShows('north');
  await editor.treeShows('west');
  await editor.open('site/lab/site-definition.yaml');
  await edit.click();
  await editor.tab('software-versions.yaml').waitFor();
  await editor.statusBar('Ln 22,').waitFor();
}

async function choosesSite(editor) {
  await editor.open(VERSIONS, 22);
  await editor.statusBar('all sites ↔ HEAD').click();
  for (const site of ['all sites', 'lab', 'north', 'south', 'west']) {
    await editor.quickPick(site).waitFor();
  }
  await editor.pick('west');
  await editor.statusBar('west ↔ HEAD').click();
  await editor.pick('Another revision…');
  await editor.answer('merge-base:master');
  await editor.statusBar('west ↔ merge-base:master').waitFor();
  await editor.run('layercake: Show Rendered Document');
  await editor.shows('keystone:2024.2-ubuntu_jammy');
}

async function restarts(editor) {
  const before = fs.statSync(starts).size;
  await editor.showProblems('no document matches');
  await editor.reports('missing-parent', '[Ln 11, Col 7]');
  await editor.run('layercake: Restart Server');
  await editor.reportsNoMore('missing-parent');
  await editor.reports('missing-parent', '[Ln 11, Col 7]');
  assert.equal(fs.statSync(starts).size, before + 1);
}

// Without trust, a program in the folder is not started.
async function findsProgram(editor, repository) {
  const script = path.join(repository, '.venv/bin/layercake');
  fs.mkdirSync(path.dirname(script), { recursive: true });
  fs.copyFileSync(program, script);
  const message = editor.notification('The program "layercake" was not found');
  await message.waitFor();
  await message.getByRole('button', { name: 'Install' }).waitFor();
  assert.equal(await editor.viewHeader.count(), 0);
  await message.getByRole('button', { name: 'Set Path' }).click();
  await editor.settings.getByText('Remote [').click();
  await editor.settings.getByText('Absolute path of the program').waitFor();
  await editor.page.keyboard.press('Escape');
  await editor.run('Workspaces: Manage Workspace Trust');
  await editor.page.locator('.workspace-trust-editor').getByRole('button', { name: 'Trust', exact: true }).click();
  await editor.isReady();
  await editor.showProblems('no document matches');
  await editor.reports('missing-parent', '[Ln 11, Col 7]');
}

/** Opens a new copy of the examples; fails for requests of other servers. */
async function inRepository(browser, code, name, test) {
  const repository = createRepository(examples, path.join(folder, name.replaceAll(/\W+/g, '-')));
  const context = await browser.newContext({ viewport: { width: 1400, height: 1000 } });
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  const faults = [];
  await context.route((url) => url.protocol.startsWith('http') && url.origin !== code.origin, (route) => {
    faults.push(`VS Code asks for ${route.request().url()}`);
    return route.abort();
  });
  const start = Date.now();
  try {
    await page.goto(code.page(repository));
    await test(new Editor(page), repository);
    assert.deepEqual(faults, []);
    console.log(`${name} (${((Date.now() - start) / 1000).toFixed(1)} s)`);
  } catch (error) {
    console.log(`FAILED ${name}: ${error.stack}`);
    failed.push(name);
  } finally {
    if (pictures) {
      await page.screenshot({ path: path.join(pictures, `${path.basename(repository)}.png`) });
    }
    await context.close();
  }
}
