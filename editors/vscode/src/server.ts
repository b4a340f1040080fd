// The process `layercake server`, and what is sent to it.

import * as vscode from 'vscode';
import {
  DidChangeConfigurationNotification,
  LanguageClient,
  type LanguageClientOptions,
  type Location,
  type TextDocumentPositionParams,
} from 'vscode-languageclient/node';

import { findProgram, reportMissingProgram } from './program';
import { asLocation, OUTPUTS } from './protocol';
import type { Settings } from './settings';

/** Time without an edit after which what was shown is refreshed. */
const QUIET_MS = 300;

/** The server; its process is replaced by a restart. */
export class Server implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private started: Promise<void> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;
  private readonly settled = new vscode.EventEmitter<void>();
  private readonly files = vscode.workspace.createFileSystemWatcher('**/*.{yaml,yml}');
  private readonly disposables: vscode.Disposable[] = [this.settled, this.files];

  /** Fires after edits, once no other follows. */
  readonly onDidSettle = this.settled.event;

  constructor(private readonly settings: Settings, readonly output: vscode.LogOutputChannel) {
    this.disposables.push(
      settings.onDidChange(() => this.sendSettings()),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (isServed(document)) {
          this.settle();
        }
      }),
      ...[this.files.onDidChange, this.files.onDidCreate, this.files.onDidDelete].map((event) => event(() => this.settle())),
    );
  }

  /** Starts the server, or starts it again. */
  restart(): Promise<void> {
    this.started = this.started.then(() => this.replace()).catch((error) => this.output.error(error));
    return this.started;
  }

  /** The client of the running server. */
  async running(): Promise<LanguageClient> {
    await this.started;
    if (this.client === undefined) {
      throw new Error('The server does not run.');
    }
    return this.client;
  }

  /** Shuts the server down. */
  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    await vscode.commands.executeCommand('setContext', 'layercake.isRunning', false);
    // It may have ended by itself.
    await client?.dispose().catch((error) => this.output.warn(error));
  }

  dispose(): void {
    clearTimeout(this.timer);
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private async replace(): Promise<void> {
    await this.stop();
    const program = await findProgram();
    if (program === undefined) {
      void reportMissingProgram();
      return;
    }
    this.output.info(`Starting ${program}`);
    const client = new LanguageClient('layercake', 'layercake', { command: program, args: ['server'] }, this.options());
    await client.start();
    this.client = client;
    await vscode.commands.executeCommand('setContext', 'layercake.isRunning', true);
    this.settle();
  }

  private options(): LanguageClientOptions {
    return {
      documentSelector: [{ language: 'yaml', scheme: 'file' }],
      outputChannel: this.output,
      initializationOptions: () => this.settings.forServer,
      middleware: {
        executeCommand: async (command, parameters, next) => {
          const result = await next(command, parameters);
          if (command === OUTPUTS) {
            await peek(parameters[0], result);
          }
          return result;
        },
        workspace: {
          configuration: ({ items }) => items.map(() => this.settings.forServer),
          // `sendSettings` sends them, with what was chosen in the status bar.
          didChangeConfiguration: async () => {},
        },
      },
    };
  }

  private async sendSettings(): Promise<void> {
    await this.client?.sendNotification(DidChangeConfigurationNotification.type, {
      settings: { layercake: this.settings.forServer },
    });
    this.settle();
  }

  private settle(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.settled.fire(), QUIET_MS);
  }
}

export function isServed({ languageId, uri }: vscode.TextDocument): boolean {
  return languageId === 'yaml' && uri.scheme === 'file';
}

/** Shows the outputs that a place reaches, at this place. */
async function peek({ textDocument, position }: TextDocumentPositionParams, outputs: Location[] = []): Promise<void> {
  await vscode.commands.executeCommand(
    'editor.action.peekLocations',
    vscode.Uri.parse(textDocument.uri),
    new vscode.Position(position.line, position.character),
    outputs.map(asLocation),
    'peek',
  );
}
