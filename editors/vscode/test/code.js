// VS Code as a process that serves a browser, with the extension installed.

import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const ENTRY = fileURLToPath(import.meta.resolve('code-server'));

// Nothing but the page asks for something or moves, and nothing is fetched.
const SETTINGS = {
  'chat.disableAIFeatures': true,
  'editor.acceptSuggestionOnEnter': 'off',
  'editor.autoClosingBrackets': 'never',
  '[yaml]': { 'editor.autoIndent': 'none' },
  'editor.lightbulb.enabled': 'on',
  'editor.minimap.enabled': false,
  'editor.quickSuggestions': 'off',
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'files.autoSave': 'off',
  'git.openRepositoryInParentFolders': 'never',
  'security.workspace.trust.banner': 'never',
  'security.workspace.trust.startupPrompt': 'never',
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'window.commandCenter': false,
  'workbench.reduceMotion': 'on',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.startupEditor': 'none',
};

export class Code {
  /** Starts VS Code with a folder for its state, the extension, folders for `PATH`, and settings. */
  static async start({ folder, extension, programs = [], settings = {} }) {
    const code = new Code(folder, programs);
    code.write('User/settings.json', { ...SETTINGS, ...settings });
    code.install(extension);
    await code.listen();
    return code;
  }

  constructor(folder, programs) {
    this.folder = folder;
    this.environment = {
      HOME: folder,
      // Otherwise, a login shell sets `PATH`.
      VSCODE_CLI: '1',
      PATH: [...programs, '/usr/bin', '/bin'].join(path.delimiter),
      // Without a gallery, nothing is searched or updated there.
      EXTENSIONS_GALLERY: JSON.stringify({ serviceUrl: '' }),
    };
    this.arguments = [
      ENTRY,
      '--user-data-dir', path.join(folder, 'data'),
      '--extensions-dir', path.join(folder, 'extensions'),
      '--disable-telemetry',
      '--disable-update-check',
    ];
  }

  /** Writes settings of the user, or of the machine where VS Code runs. */
  write(file, settings) {
    const target = path.join(this.folder, 'data', file);
    fs.mkdirSync(path.dirname(target), { recursive: true });
    fs.writeFileSync(target, JSON.stringify(settings));
  }

  /** Address of a page that opens a folder. */
  page(repository) {
    return `${this.origin}/?folder=${repository}`;
  }

  stop() {
    this.process.kill();
  }

  install(extension) {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [...this.arguments, '--install-extension', extension],
      { env: this.environment, encoding: 'utf8' },
    );
    if (status !== 0) {
      throw new Error(`the extension cannot be installed\n${stdout}${stderr}`);
    }
  }

  async listen() {
    this.process = spawn(process.execPath, [...this.arguments, '--auth', 'none', '--bind-addr', '127.0.0.1:0'], {
      env: this.environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    // Without native modules, it logs errors about its own log files.
    this.process.stderr.resume();
    for await (const line of createInterface({ input: this.process.stdout })) {
      const address = line.match(/HTTP server listening on (\S+?)\/?$/);
      if (address !== null) {
        this.origin = address[1];
        this.process.stdout.resume();
        return;
      }
    }
    throw new Error('VS Code ended before it served a page');
  }
}
