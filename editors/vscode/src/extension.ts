import * as vscode from 'vscode';

import { ChangesView } from './changes';
import { RenderedDocuments } from './rendered';
import { Server } from './server';
import { Settings } from './settings';

let server: Server;

export async function activate({ subscriptions, workspaceState }: vscode.ExtensionContext): Promise<void> {
  const output = vscode.window.createOutputChannel('layercake', { log: true });
  const settings = new Settings(workspaceState);
  server = new Server(settings, output);
  const rendered = new RenderedDocuments(server, settings);
  subscriptions.push(
    output,
    settings,
    server,
    rendered,
    new ChangesView(server),
    vscode.commands.registerCommand('layercake.showRendered', () => rendered.show()),
    vscode.commands.registerCommand('layercake.compareRendered', () => rendered.compare()),
    vscode.commands.registerCommand('layercake.choose', () => settings.choose()),
    vscode.commands.registerCommand('layercake.restart', () => server.restart()),
    vscode.commands.registerCommand('layercake.showOutput', () => output.show()),
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration('layercake.path') && server.restart()),
    vscode.workspace.onDidGrantWorkspaceTrust(() => server.restart()),
  );
  await server.restart();
}

export function deactivate(): Promise<void> {
  return server.stop();
}
