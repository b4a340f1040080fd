// Where the program `layercake` is.

import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import * as path from 'node:path';

import * as vscode from 'vscode';

const NAME = process.platform === 'win32' ? 'layercake.exe' : 'layercake';
const SCRIPTS = process.platform === 'win32' ? 'Scripts' : 'bin';
const INSTALL_PAGE = 'https://github.com/layercake-lint/layercake/blob/main/docs/quick-start.md#install';

/** Part of the interface of the extension for Python. */
interface PythonExtension {
  environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
    resolveEnvironment(environment: { path: string }): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
  };
}

/** The program of the setting, or else the first that is found. */
export async function findProgram(): Promise<string | undefined> {
  const configured = vscode.workspace.getConfiguration('layercake').get('path', '');
  for (const program of configured ? [configured] : await candidates()) {
    if (await isProgram(program)) {
      return program;
    }
  }
  return undefined;
}

/** Says that the program is missing, and how to change that. */
export async function reportMissingProgram(): Promise<void> {
  const configured = vscode.workspace.getConfiguration('layercake').get('path', '');
  const message = configured
    ? `The setting "layercake.path" is not the path of a program: ${configured}`
    : 'The program "layercake" was not found. Install it, or set its path.';
  const chosen = await vscode.window.showErrorMessage(message, 'Install', 'Set Path');
  if (chosen === 'Install') {
    await vscode.env.openExternal(vscode.Uri.parse(INSTALL_PAGE));
  } else if (chosen === 'Set Path') {
    await vscode.commands.executeCommand('workbench.action.openSettings', 'layercake.path');
  }
}

async function candidates(): Promise<string[]> {
  const folders = [
    ...(process.env['PATH'] ?? '').split(path.delimiter).filter(path.isAbsolute),
    // A workspace decides about these, so it has to be trusted.
    ...(vscode.workspace.isTrusted ? await environmentFolders() : []),
  ];
  return folders.map((folder) => path.join(folder, NAME));
}

/** Folders of scripts in the Python environments of the workspace. */
async function environmentFolders(): Promise<string[]> {
  const roots = (vscode.workspace.workspaceFolders ?? []).map((it) => it.uri);
  const selected = await Promise.all(roots.map(selectedInterpreter));
  return [
    ...selected.filter((it) => it !== undefined).map((it) => path.dirname(it.fsPath)),
    ...roots.map((it) => path.join(it.fsPath, '.venv', SCRIPTS)),
  ];
}

async function selectedInterpreter(folder: vscode.Uri): Promise<vscode.Uri | undefined> {
  const python = await vscode.extensions.getExtension<PythonExtension>('ms-python.python')?.activate();
  const environment = await python?.environments.resolveEnvironment(python.environments.getActiveEnvironmentPath(folder));
  return environment?.executable.uri;
}

async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
