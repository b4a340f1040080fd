// Records how the editor follows an edit in `global/`, as pictures of the page.
//
//     node record.js EXTENSION PROGRAM EXAMPLES FOLDER FRAMES
//
// A picture is `NUMBER-MILLISECONDS.png`, with the time for which it is shown.

import fs from 'node:fs';
import path from 'node:path';

import { Code } from './code.js';
import { Editor, inBrowser } from './editor.js';
import { createRepository } from './repository.js';

const [extension, program, examples, folder, frames] = process.argv.slice(2).map((it) => path.resolve(it));

const SIZE = { width: 1240, height: 600 };
const TREE_WIDTH = 480;
const KEY_MS = 300;
const READ_MS = 2500;
const FILE = 'global/config/software-versions.yaml';
const LINE = 22;

let taken = 0;
await inBrowser(async (browser) => {
  fs.mkdirSync(path.join(folder, 'bin'), { recursive: true });
  fs.mkdirSync(frames, { recursive: true });
  fs.symlinkSync(program, path.join(folder, 'bin/layercake'));
  const repository = createRepository(examples, path.join(folder, 'sites'));
  const code = await Code.start({
    folder: path.join(folder, 'state'),
    extension,
    programs: [path.join(folder, 'bin')],
    settings: {
      'breadcrumbs.enabled': false,
      'editor.lightbulb.enabled': 'off',
      'editor.occurrencesHighlight': 'off',
      'editor.scrollBeyondLastLine': false,
      'git.blame.statusBarItem.enabled': false,
      'outline.showFiles': false,
      'scm.diffDecorations': 'none',
      'security.workspace.trust.enabled': false,
      'workbench.activityBar.location': 'hidden',
      'workbench.layoutControl.enabled': false,
    },
  });
  try {
    const page = await browser.newPage({ viewport: SIZE });
    await page.goto(code.page(repository));
    await record(new Editor(page));
  } finally {
    code.stop();
  }
});

async function record(editor) {
  await editor.isReady();
  await editor.showTree();
  await editor.enlargeTree(TREE_WIDTH);
  await editor.open(FILE, LINE, 50);
  await editor.treeShows('no output changed');
  await editor.lenses.filter({ hasText: /outputs/ }).first().waitFor();
  await show(editor, READ_MS / 2);
  await editor.page.keyboard.press('Delete');
  await show(editor, KEY_MS);
  await editor.type('2');
  await show(editor, KEY_MS);
  await editor.treeShows('shielded in west');
  await editor.lenses.filter({ hasText: 'changed since' }).first().waitFor();
  await show(editor, READ_MS);
}

async function show(editor, milliseconds) {
  const name = `${String(taken++).padStart(3, '0')}-${milliseconds}.png`;
  await editor.page.screenshot({ path: path.join(frames, name), caret: 'initial' });
}
