// The view "What This Edit Reaches".

import * as vscode from 'vscode';

import { asLocation, type ChangeNode, changesRequest } from './protocol';
import { isServed, type Server } from './server';

/** Maximum number of children that are shown without a click. */
const MAX_EXPANDED_CHILDREN = 10;

/** The changes of the repository that the last served editor belongs to. */
export class ChangesView implements vscode.TreeDataProvider<ChangeNode>, vscode.Disposable {
  private edits: ChangeNode[] = [];
  private document: vscode.Uri | undefined;
  private running = new vscode.CancellationTokenSource();
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly view: vscode.TreeView<ChangeNode>;
  private readonly disposables: vscode.Disposable;

  readonly onDidChangeTreeData = this.changed.event;

  constructor(private readonly server: Server) {
    this.view = vscode.window.createTreeView('layercake.changes', { treeDataProvider: this, showCollapseAll: true });
    this.disposables = vscode.Disposable.from(
      this.changed,
      this.view,
      this.view.onDidChangeVisibility(() => this.refresh()),
      vscode.window.onDidChangeActiveTextEditor((editor) => this.follow(editor)),
      server.onDidSettle(() => this.refresh()),
    );
    this.follow(vscode.window.activeTextEditor);
  }

  getChildren(node?: ChangeNode): ChangeNode[] {
    return node?.children ?? this.edits;
  }

  getTreeItem({ label, description, location, children }: ChangeNode): vscode.TreeItem {
    const item = new vscode.TreeItem(label, collapsibleState(children));
    item.description = description;
    item.tooltip = `${label}\n${description}`;
    if (location !== undefined) {
      const { uri, range } = asLocation(location);
      item.command = { title: 'Open', command: 'vscode.open', arguments: [uri, { selection: range }] };
    }
    return item;
  }

  dispose(): void {
    this.running.cancel();
    this.disposables.dispose();
  }

  private follow(editor: vscode.TextEditor | undefined): void {
    if (editor !== undefined && isServed(editor.document)) {
      this.document = editor.document.uri;
      void this.refresh();
    }
  }

  /** Shows the present changes; those of before stay until they are known. */
  private async refresh(): Promise<void> {
    if (!this.view.visible || this.document === undefined) {
      return;
    }
    this.running.cancel();
    const { token } = this.running = new vscode.CancellationTokenSource();
    try {
      const client = await this.server.running();
      const changes = await client.sendRequest(changesRequest, { textDocument: { uri: this.document.toString() } }, token);
      if (token.isCancellationRequested) {
        return;
      }
      const partial = changes?.isComplete === false ? 'Incomplete: not every change was judged. ' : '';
      this.view.message = changes ? partial + changes.summary : 'The file is not in a site repository.';
      this.view.description = changes ? `compared with ${changes.base}` : undefined;
      this.edits = changes?.edits ?? [];
      this.changed.fire();
    } catch (error) {
      if (!token.isCancellationRequested) {
        this.server.output.warn(`layercake/changes: ${error}`);
      }
    }
  }
}

function collapsibleState(children: ChangeNode[]): vscode.TreeItemCollapsibleState {
  if (children.length === 0) {
    return vscode.TreeItemCollapsibleState.None;
  }
  return children.length <= MAX_EXPANDED_CHILDREN
    ? vscode.TreeItemCollapsibleState.Expanded
    : vscode.TreeItemCollapsibleState.Collapsed;
}
