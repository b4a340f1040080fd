// Rendered documents as read-only texts, compared with the base on request.

import * as vscode from 'vscode';
import { ExecuteCommandRequest, TextDocumentContentRequest } from 'vscode-languageclient/node';

import { RENDERED, type Rendered } from './protocol';
import { isServed, type Server } from './server';
import type { Settings } from './settings';

/** Opens rendered documents, whose texts the client asks the server for. */
export class RenderedDocuments implements vscode.Disposable {
  private readonly listener: vscode.Disposable;

  constructor(private readonly server: Server, private readonly settings: Settings) {
    this.listener = server.onDidSettle(() => this.refresh());
  }

  /** Opens the rendered document at the cursor. */
  async show(): Promise<void> {
    const rendered = await this.atCursor();
    if (rendered !== undefined) {
      await vscode.window.showTextDocument(await open(rendered.uri));
    }
  }

  /** Compares the rendered document at the cursor with the base. */
  async compare(): Promise<void> {
    const rendered = await this.atCursor();
    if (rendered !== undefined) {
      const base = await open(rendered.base);
      const current = await open(rendered.uri);
      const title = `${titleOf(rendered)}: ${this.settings.base} ↔ now`;
      await vscode.commands.executeCommand('vscode.diff', base.uri, current.uri, title);
    }
  }

  dispose(): void {
    this.listener.dispose();
  }

  /** The document of the chosen site, or of one that the user picks. */
  private async atCursor(): Promise<Rendered | undefined> {
    const editor = vscode.window.activeTextEditor;
    const all = editor && isServed(editor.document) ? await this.at(editor) : [];
    if (all.length === 0) {
      void vscode.window.showInformationMessage('No site renders a document at the cursor.');
    }
    return all.length === 1 ? all[0] : all.find((it) => it.site === this.settings.site) ?? pick(all);
  }

  private async at({ document, selection: { active: { line, character } } }: vscode.TextEditor): Promise<Rendered[]> {
    const client = await this.server.running();
    const place = { textDocument: { uri: document.uri.toString() }, position: { line, character } };
    return client.sendRequest(ExecuteCommandRequest.type, { command: RENDERED, arguments: [place] });
  }

  /** Has the texts of open documents asked for again. */
  private async refresh(): Promise<void> {
    const client = await this.server.running();
    const providers = client.getFeature(TextDocumentContentRequest.method)?.getProviders() ?? [];
    for (const { scheme, onDidChangeEmitter } of providers) {
      vscode.workspace.textDocuments
        .filter(({ uri }) => uri.scheme === scheme)
        .forEach(({ uri }) => onDidChangeEmitter.fire(uri));
    }
  }
}

async function pick(all: Rendered[]): Promise<Rendered | undefined> {
  const items = all.map((rendered) => ({ label: rendered.site ?? 'no site', description: rendered.document, rendered }));
  const chosen = items.length > 0 ? await vscode.window.showQuickPick(items, { title: 'Site to render the document for' }) : undefined;
  return chosen?.rendered;
}

async function open(uri: string): Promise<vscode.TextDocument> {
  const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(uri));
  return vscode.languages.setTextDocumentLanguage(document, 'yaml');
}

function titleOf({ site, document }: Rendered): string {
  return site === null ? document : `${document} in ${site}`;
}
