// Site repositories with edits since their only commit, and the pages that the real program writes
// for them.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const POLICY = `---
schema: deckhand/LayeringPolicy/v1
metadata: {schema: metadata/Control/v1, name: layering-policy}
data: {layerOrder: [global, type, site]}
`;

// Page and report of `lint` with these arguments, and the elapsed time.
export function pageOf(repository, name, ...more) {
  const [page, report] = ['html', 'json'].map((form) => path.join(repository, '..', `${name}.${form}`));
  const outputs = ['-o', `html=${page}`, '-o', `json=${report}`];
  const start = Date.now();
  run(process.env.LAYERCAKE_PROGRAM, repository, [0, 1], 'lint', ...outputs, ...more);
  return { page, report: JSON.parse(fs.readFileSync(report, 'utf8')), took: Date.now() - start };
}

// The example repository with an edit that reaches three sites, and one that removes the parent of
// a document in each of two sites.
export function example(examples, folder) {
  const repository = path.join(folder, 'example');
  fs.cpSync(examples, repository, { recursive: true });
  commit(repository);
  replace(repository, 'global/config/software-versions.yaml', 'keystone:2025.1', 'keystone:2025.2');
  replace(repository, 'type/cloud/charts/keystone.yaml', 'name: keystone-cloud', 'name: keystone-other');
  return repository;
}

const MARKUP = '<script>window.ran = 1</script></script></style></title><!-- "><img src=x onerror=window.ran=1>';
const ADDRESS = "javascript:window.ran=1' onmouseover='window.ran=1";

// Names, values and a file that resemble markup.
export function hostile(folder) {
  const repository = path.join(folder, 'hostile');
  const file = 'global/<img src=x onerror=window.ran=1>.yaml';
  const names = (value, more) => document(MARKUP, 'global', { [ADDRESS]: value, text: `${value}\n${MARKUP}\n` }, more);
  write(repository, 'global/policy.yaml', POLICY);
  write(repository, file, names(MARKUP));
  write(repository, 'type/small/t.yaml', document('t', 'type', {}));
  for (const site of ['lab', '"><svg onload=window.ran=1>']) {
    write(repository, `site/${site}/site-definition.yaml`, definition(site));
    write(repository, `site/${site}/broken.yaml`, document(`${site} ${MARKUP}`, 'site', {}, substitution(MARKUP, ADDRESS)));
  }
  commit(repository);
  write(repository, file, names(`${ADDRESS} ${MARKUP}`, substitution(`${ADDRESS} gone`, '.')));
  return repository;
}

export const LARGE = { sites: 50, documents: 60, readers: 40 };

// An edit that reaches every site through documents of the global layer, and one that removes the
// source of documents of every site.
export function large(folder) {
  const repository = path.join(folder, 'large');
  write(repository, 'global/policy.yaml', POLICY);
  write(repository, 'global/versions.yaml', document('versions', 'global', { image: 'one' }));
  write(repository, 'global/source.yaml', document('source', 'global', { value: 1 }));
  write(repository, 'type/small/t.yaml', document('t', 'type', {}));
  for (let at = 0; at < LARGE.documents; at += 1) {
    write(repository, `global/chart-${at}.yaml`, document(`chart-${at}`, 'global', { at }, substitution('versions', '.image')));
  }
  for (let at = 0; at < LARGE.sites; at += 1) {
    const readers = Array.from({ length: LARGE.readers }, (_, reader) =>
      document(`reader-${reader}`, 'site', { at }, substitution('source', '.value')));
    write(repository, `site/site-${at}/site-definition.yaml`, definition(`site-${at}`));
    write(repository, `site/site-${at}/readers.yaml`, readers.join(''));
  }
  commit(repository);
  write(repository, 'global/versions.yaml', document('versions', 'global', { image: 'two' }));
  fs.rmSync(path.join(repository, 'global/source.yaml'));
  return repository;
}

// The real history, if available.
export function real(folder) {
  const corpus = process.env.LAYERCAKE_CORPUS;
  if (!corpus) {
    return null;
  }
  const repository = path.join(folder, 'real');
  const bundle = path.resolve(corpus, 'treasuremap/treasuremap.bundle');
  run('git', folder, [0], 'clone', '--quiet', '--branch', REAL.to, bundle, repository);
  return repository;
}

// A pair of its commits: 30 commits with hundreds of edits.
export const REAL = { from: 'v1.9~30', to: 'v1.9' };

// JSON is valid YAML.
function document(name, layer, data, more = {}) {
  const metadata = {
    schema: 'metadata/Document/v1',
    name,
    storagePolicy: 'cleartext',
    layeringDefinition: { abstract: false, layer },
    ...more,
  };
  const lines = Object.entries({ schema: 'example/Any/v1', metadata, data });
  return `---\n${lines.map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`).join('')}`;
}

function substitution(name, from) {
  const src = { schema: 'example/Any/v1', name, path: from };
  return { substitutions: [{ src, dest: { path: '.value' } }] };
}

function definition(site) {
  const text = document(site, 'site', { site_type: 'small' });
  return text.replace('example/Any/v1', 'pegleg/SiteDefinition/v1');
}

function write(repository, file, text) {
  const whole = path.join(repository, file);
  fs.mkdirSync(path.dirname(whole), { recursive: true });
  fs.writeFileSync(whole, text);
}

function replace(repository, file, before, after) {
  const text = fs.readFileSync(path.join(repository, file), 'utf8');
  if (!text.includes(before)) {
    throw new Error(`${file} has no ${before}`);
  }
  write(repository, file, text.replace(before, after));
}

function commit(repository) {
  const who = ['-c', 'user.name=Tester', '-c', 'user.email=tester@example.org'];
  run('git', repository, [0], 'init', '--quiet', '--initial-branch=main');
  run('git', repository, [0], 'add', '--all');
  run('git', repository, [0], ...who, 'commit', '--quiet', '--message=state');
}

function run(program, folder, codes, ...words) {
  try {
    execFileSync(program, words, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  } catch (error) {
    if (!codes.includes(error.status)) {
      throw error;
    }
  }
}
