// Messages of `layercake server` beyond the Language Server Protocol.

import * as vscode from 'vscode';
import { Location, RequestType, TextDocumentIdentifier } from 'vscode-languageclient/node';

/** Everything that the current texts change, compared with the base. */
export interface Changes {
  base: string;
  summary: string;
  isComplete: boolean;
  edits: ChangeNode[];
}

export interface ChangeNode {
  label: string;
  description: string;
  location?: Location;
  children: ChangeNode[];
}

export const changesRequest = new RequestType<{ textDocument: TextDocumentIdentifier }, Changes | null, void>('layercake/changes');

/** Command of the server: the rendered documents of a place. */
export const RENDERED = 'layercake.rendered';

/** Command of the server, and of its code lenses: the outputs that a place reaches. */
export const OUTPUTS = 'layercake.outputs';

/** A document rendered for a site, with the addresses of its texts. */
export interface Rendered {
  site: string | null;
  document: string;
  uri: string;
  base: string;
}

export function asLocation({ uri, range: { start, end } }: Location): vscode.Location {
  return new vscode.Location(
    vscode.Uri.parse(uri),
    new vscode.Range(start.line, start.character, end.line, end.character),
  );
}
