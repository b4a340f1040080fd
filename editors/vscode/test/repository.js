// A copy of the example repository with one commit.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';

export function createRepository(examples, target) {
  const git = (...words) => execFileSync('git', [
    '-C', target,
    '-c', 'user.name=Test',
    '-c', 'user.email=test@example.org',
    '-c', 'init.defaultBranch=master',
    ...words,
  ]);
  fs.cpSync(examples, target, { recursive: true });
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '--message', 'Add sites');
  return target;
}
