// Settings of the server, and the site and the base of comparison in the status bar.

import * as path from 'node:path';

import * as vscode from 'vscode';

const ALL_SITES = 'all sites';
const OTHER_BASE = 'Another revision…';
const BASES: Record<string, string> = {
  'HEAD': 'what is not committed',
  'merge-base:main': 'what this branch changes',
};

interface Choice extends vscode.QuickPickItem {
  key?: 'site' | 'base';
  value?: string | null;
}

/**
 * The settings in VS Code, with the choices made in the status bar. A choice is kept outside the
 * repository, until its setting changes.
 */
export class Settings implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly statusBar = vscode.window.createStatusBarItem('layercake.comparison', vscode.StatusBarAlignment.Left);
  private readonly listener = vscode.workspace.onDidChangeConfiguration((event) => this.reconfigure(event));

  readonly onDidChange = this.changed.event;

  constructor(private readonly choices: vscode.Memento) {
    this.statusBar.name = 'layercake';
    this.statusBar.command = 'layercake.choose';
    this.showStatus();
    this.statusBar.show();
  }

  get site(): string | null {
    return this.value('site') ?? null;
  }

  get base(): string {
    return this.value('base') ?? 'HEAD';
  }

  /** The settings as the server knows them. */
  get forServer(): object {
    const { codeLens, inlayHints } = vscode.workspace.getConfiguration().get<Record<string, unknown>>('layercake', {});
    return { base: this.base, site: this.site, codeLens, inlayHints };
  }

  /** Asks for a site or for another base. */
  async choose(): Promise<void> {
    const choice = await vscode.window.showQuickPick(this.offered(), {
      title: `layercake: ${this.site ?? ALL_SITES}, compared with ${this.base}`,
      placeHolder: 'Site to render, or base of comparison',
    });
    if (choice?.key === undefined) {
      return;
    }
    const value = choice.label === OTHER_BASE ? await this.askForBase() : choice.value;
    if (value !== undefined) {
      await this.choices.update(choice.key, value);
      this.announce();
    }
  }

  dispose(): void {
    this.listener.dispose();
    this.statusBar.dispose();
    this.changed.dispose();
  }

  private value(key: 'site' | 'base'): string | null | undefined {
    const chosen = this.choices.get<string | null>(key);
    return chosen === undefined ? vscode.workspace.getConfiguration('layercake').get<string | null>(key) : chosen;
  }

  private async offered(): Promise<Choice[]> {
    return [
      { label: 'Site', kind: vscode.QuickPickItemKind.Separator },
      { label: ALL_SITES, key: 'site', value: null },
      ...(await siteNames()).map((name): Choice => ({ label: name, key: 'site', value: name })),
      { label: 'Base of comparison', kind: vscode.QuickPickItemKind.Separator },
      ...Object.entries(BASES).map(([base, description]): Choice => ({ label: base, description, key: 'base', value: base })),
      { label: OTHER_BASE, key: 'base' },
    ];
  }

  private async askForBase(): Promise<string | undefined> {
    const base = await vscode.window.showInputBox({
      title: 'Base of comparison',
      prompt: 'A commit, branch or tag, or `merge-base:BRANCH`',
      value: this.base,
    });
    return base?.trim() || undefined;
  }

  private async reconfigure(event: vscode.ConfigurationChangeEvent): Promise<void> {
    if (!event.affectsConfiguration('layercake')) {
      return;
    }
    for (const key of ['site', 'base'].filter((it) => event.affectsConfiguration(`layercake.${it}`))) {
      await this.choices.update(key, undefined);
    }
    this.announce();
  }

  private announce(): void {
    this.showStatus();
    this.changed.fire();
  }

  private showStatus(): void {
    this.statusBar.text = `$(layers) ${this.site ?? ALL_SITES} ↔ ${this.base}`;
    this.statusBar.tooltip = `layercake: ${this.site ?? ALL_SITES}, compared with ${this.base}`;
  }
}

async function siteNames(): Promise<string[]> {
  const definitions = await vscode.workspace.findFiles('**/site/*/site-definition.yaml');
  return [...new Set(definitions.map((it) => path.posix.basename(path.posix.dirname(it.path))))].sort();
}
